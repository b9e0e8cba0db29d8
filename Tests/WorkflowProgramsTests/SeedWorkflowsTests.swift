import WorkflowPrograms
import Foundation
import Pipeline
import PlanRules
import Sandbox
import Testing

@testable import ProjectSetup

/// The workflows that `pipectl init` writes, compiled and planned.
@Suite(.programRoom, .timeLimit(.minutes(3))) struct SeedWorkflowsTests {
    private let room = ProgramRoom.current

    private var repository: String { "\(room.path)/my-tool" }

    private func program(_ seeds: [SeedFile]) async throws -> WorkflowProgram {
        try await room.cache().program(for: .files(Dictionary(uniqueKeysWithValues: seeds.map { ($0.path, $0.text) })))
    }

    /// The seeds with the values that a person must write.
    private func filled(_ seeds: [SeedFile]) -> [SeedFile] {
        seeds.map { seed in
            var seed = seed
            for word in ["KEY_ID", "ISSUER_ID", "TEAM_ID", "BUNDLE_ID"] {
                seed.text.replace("\"\(word)\"", with: "\"2X9R4HXF34\"")
            }
            return seed
        }
    }

    struct Kind: CustomTestStringConvertible {
        var testDescription: String
        var files: [String: String]
        /// The steps of "test", then those of "release".
        var test: [String]
        var release: [String]
        var isXcode: Bool { release.contains("TestFlight") }
        init(_ name: String, _ files: [String: String], test: [String], release: [String]) {
            (testDescription, self.files, self.test, self.release) = (name, files, test, release)
        }
    }

    private static let swiftTests = ".testTarget(name: \"ATests\", path: \"Checks\")"

    @Test(arguments: [
        Kind(
            "Swift package with tests elsewhere",
            ["Package.swift": swiftTests, "Checks/a.swift": "", "Sources/x": "", ".swift-format": "{}"],
            test: ["resolve", "build", "unit tests", "format"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Xcode project",
            ["My App.xcodeproj/xcshareddata/xcschemes/All of it.xcscheme": "<TestableReference/>"],
            test: ["resolve", "unit tests"],
            release: ["resolve", "unit tests", "archive", "export", "release", "TestFlight"]),
        Kind(
            "Xcode workspace",
            ["It's.xcworkspace/x": "", "A.xcodeproj/xcshareddata/xcschemes/A.xcscheme": "<TestPlanReference/>"],
            test: ["resolve", "unit tests"],
            release: ["resolve", "unit tests", "archive", "export", "release", "TestFlight"]),
        Kind(
            "Cargo",
            ["Cargo.toml": "", "Cargo.lock": "", "rustfmt.toml": "", "src/lib.rs": "#[test]\nfn a() {}"],
            test: ["resolve", "build", "unit tests", "format"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Go with dependencies", ["go.mod": "module a\nrequire b v1.0.0\n", "go.sum": "", "a/a_test.go": ""],
            test: ["resolve", "build", "unit tests"], release: ["resolve", "build", "unit tests", "archive"]),
        Kind(
            "Go", ["go.mod": "module a\n", "a_test.go": ""], test: ["build", "unit tests"],
            release: ["build", "unit tests", "archive"]),
        Kind(
            "npm",
            [
                "package.json":
                    "{\"scripts\": {\"build\": \"x\", \"test\": \"jest\"}, \"devDependencies\": {\"a\": \"1\"}}",
                "package-lock.json": "",
            ], test: ["resolve", "build", "unit tests"], release: ["resolve", "build", "unit tests", "archive"]),
        Kind(
            "pnpm", ["package.json": "{\"scripts\": {\"test\": \"a && b\"}}", "pnpm-lock.yaml": ""],
            test: ["resolve", "unit tests"], release: ["resolve", "unit tests", "archive"]),
        Kind(
            "CMake, and a package.json without a script that tests",
            ["CMakeLists.txt": "include( CTest )", "package.json": "{\"dependencies\": {}}"],
            test: ["build", "unit tests"], release: ["build", "unit tests", "release build", "archive"]),
        Kind(
            "Meson", ["meson.build": "project('a', 'c')\ntest('b', exe)\n"], test: ["build", "unit tests"],
            release: ["build", "unit tests", "archive"]),
        Kind(
            "Autotools", ["configure.ac": "", "tests/Makefile.am": "TESTS = a\n"], test: ["build", "unit tests"],
            release: ["build", "unit tests", "archive"]),
        Kind(
            "Python by pyproject.toml", ["pyproject.toml": "[project]\n", "tests/test_a.py": ""],
            test: ["resolve", "unit tests"], release: ["resolve", "unit tests", "archive"]),
        Kind(
            "Python by its tests alone", ["tests/test_a.py": "", "a.py": ""], test: ["resolve", "unit tests"],
            release: ["resolve", "unit tests", "archive"]),
        Kind(
            "Maven", ["pom.xml": "", "mvnw": "", "src/test/java/A.java": ""],
            test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Gradle", ["build.gradle.kts": "", "app/src/test/kotlin/A.kt": ""],
            test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Make", ["Makefile": "CC := clang\nall:\n\ttrue\ncheck: all\n\ttrue\n"], test: ["build", "unit tests"],
            release: ["build", "unit tests", "archive"]),
        Kind(
            "several",
            [
                "go.mod": "module a\n", "a_test.go": "", "web/package.json": "{\"scripts\": {\"test\": \"vitest\"}}",
                "py_tools/pytest.ini": "", "py_tools/test_a.py": "",
            ],
            test: [
                "Go build", "Go unit tests", "py_tools Python resolve", "py_tools Python unit tests",
                "web npm unit tests",
            ],
            release: [
                "Go build", "Go unit tests", "py_tools Python resolve", "py_tools Python unit tests",
                "web npm unit tests", "archive",
            ]),
    ])
    func theSeedsCompileAndCanRun(kind: Kind) async throws {
        for (name, text) in kind.files { try room.file("my-tool/\(name)", text) }
        let seeds = try SeedWorkflows(for: SeedProject(directory: repository)).files
        #expect(seeds.map(\.path) == ["workflows/Workflows.swift", "workflows/test.swift", "workflows/release.swift"])
        let program = try await program(filled(seeds))
        #expect(program.names == ["test", "release"])
        #expect(program.description.workflows.map { $0.triggers.map(\.event) } == [[.pullRequest], [.merge]])
        // Plans exist only if validation has found nothing.
        let test = try await program.plan(workflow: "test", context: .example)
        #expect(Set(test.steps.map(\.name)) == Set(kind.test))
        let release = try await program.plan(workflow: "release", context: .example)
        #expect(Set(release.steps.map(\.name)) == Set(kind.release))
        // Only the step that declares it may use the network, and it is the first of its chain. Xcode's last steps ask
        // Apple for profiles, and TestFlight is on the network.
        let signed = ["archive", "export", "TestFlight"]
        let online = (test.steps + release.steps).filter { !kind.isXcode || !signed.contains($0.name) }
        for step in online where step.network == .allowed {
            #expect(step.name.hasSuffix("resolve"))
            #expect(step.needs.isEmpty)
        }
        for step in test.steps + release.steps where step.action.startsProcess {
            #expect(step.machine == (kind.isXcode ? MachineNeeds(traits: [.macOS]) : nil))
        }
        // Whatever the folder contains, some step tests.
        #expect(test.steps.contains { $0.name.hasSuffix("unit tests") })
        for step in test.steps where step.name.hasPrefix("web") { #expect(step.workingDirectory == "web") }
        for seed in seeds { #expect(seed.text.split(separator: "\n").allSatisfy { $0.count <= 240 }) }
    }

    private static let scheme = #"<BuildableReference BuildableName = "App.app"><TestableReference/>"#

    @Test(arguments: [
        (
            [
                "package.json": #"{"scripts": {"test": "jest"}, "dependencies": {"react-native": "1"}}"#,
                "package-lock.json": "", "Gemfile": "gem 'cocoapods'", "ios/Podfile": "",
                "ios/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme": scheme,
            ],
            [
                "test": ["resolve", "unit tests"], "app test": ["npm", "pods", "resolve", "unit tests"],
                "release": ["npm", "pods", "resolve", "unit tests", "archive", "export", "release", "TestFlight"],
            ]
        ),
        (
            [
                "pubspec.yaml": "version: 2.3.1+4\n    sdk: flutter\n", "test/a_test.dart": "",
                "ios/Runner.xcworkspace/x": "",
                "ios/Runner.xcodeproj/xcshareddata/xcschemes/Runner.xcscheme": scheme,
                "ios/Runner.xcodeproj/project.pbxproj": "SDKROOT = iphoneos;",
                "macos/Runner.xcodeproj/xcshareddata/xcschemes/Runner.xcscheme": scheme,
            ],
            [
                "test": ["flutter", "resolve", "Dart tests", "unit tests"],
                "release": ["flutter", "resolve", "unit tests", "archive", "export", "release", "TestFlight"],
            ]
        ),
        (
            [
                "go.mod": "module a\n", "a_test.go": "",
                "apple/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme":
                    #"<BuildableReference BuildableName = "App.app">"#,
            ],
            [
                "test": ["build", "unit tests"], "app test": ["resolve", "build"],
                "release": ["build", "unit tests", "archive"],
                "app release": ["resolve", "archive", "export", "release", "TestFlight"],
            ]
        ),
        (
            [
                "one/A.xcodeproj/xcshareddata/xcschemes/A.xcscheme": scheme,
                "two/B.xcodeproj/xcshareddata/xcschemes/B.xcscheme": scheme, "two/Podfile": "",
            ],
            [
                "test": [
                    "one Xcode resolve", "one Xcode unit tests", "two Xcode pods", "two Xcode resolve",
                    "two Xcode unit tests",
                ],
                "release": [
                    "one Xcode resolve", "one Xcode unit tests", "two Xcode pods", "two Xcode resolve",
                    "two Xcode unit tests", "archive",
                ],
            ]
        ),
    ])
    func `an app below the top has its own workflows, on a Mac`(
        files: [String: String], plans: [String: [String]]
    ) async throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        let seeds = try SeedWorkflows(for: SeedProject(directory: repository))
        let program = try await program(filled(seeds.files))
        #expect(Set(program.names) == Set(plans.keys))
        for (name, steps) in plans {
            let plan = try await program.plan(workflow: name, context: .example)
            #expect(Set(plan.steps.map(\.name)) == Set(steps))
            let started = plan.steps.filter(\.action.startsProcess)
            let isOnMac = steps.contains { $0.hasSuffix("resolve") } && (name != "test" || plans["app test"] == nil)
            #expect(started.allSatisfy { ($0.machine != nil) == isOnMac })
        }
        for seed in seeds.files { #expect(seed.text.split(separator: "\n").allSatisfy { $0.count <= 240 }) }
        // It says that a Mac is needed, and does not ask for Xcode here.
        let remarks = seeds.remarks(isMac: false) { _ in false }
        #expect(remarks.contains { $0.contains("pipectl machines add") })
        #expect(!remarks.contains { $0.hasPrefix("xcodebuild") || $0.hasPrefix("pod") })
        #expect(seeds.remarks(isMac: true) { _ in false }.contains { $0.hasPrefix("xcodebuild") })
    }

    @Test(arguments: [
        (["Makefile": "test:\n"], ["// let version", "// Step.publish(\"in a folder"], "in a folder"),
        (
            ["A.xcodeproj/xcshareddata/xcschemes/A.xcscheme": scheme],
            ["// Step.publish(\"TestFlight"], "ship it"
        ),
    ])
    func `a line of the release that is a comment works without the slashes`(
        files: [String: String], lines: [String], step: String
    ) async throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        var seeds = filled(try seeds().files)
        // The line for TestFlight takes the place of the one without an approval.
        seeds[2].text.replace("\n    Step.publish(\"TestFlight\", version, to:", with: "\n    // (")
        for line in lines { seeds[2].text.replace(line, with: line.dropFirst(3)) }
        let plan = try await program(seeds).plan(workflow: "release", context: .example)
        #expect(plan.steps.contains { $0.name == step } && plan.validate().isEmpty)
    }

    @Test func `the words that a person must replace are refused`() async throws {
        try room.file("my-tool/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme", Self.scheme)
        let seeds = try seeds()
        let findings = try await room.cache().findings(
            for: .files(Dictionary(uniqueKeysWithValues: seeds.files.map { ($0.path, $0.text) })))
        let app = try #require(seeds.recipes.first?.xcode)
        #expect(findings.map(\.rule) == app.placeholders.map { _ in "placeholder" } && findings.count == 4)
        #expect(seeds.notes.contains { note in app.placeholders.allSatisfy(note.contains) })
    }

    @Test(.timeLimit(.minutes(1))) func `the workflows of a Swift package are formatted`() async throws {
        try room.file("my-tool/Package.swift", ".executable(name: \"tool\", targets: []) .testTarget(")
        try SeedWorkflows(for: SeedProject(directory: repository)).write(to: repository)
        try room.file("my-tool/.swift-format", #"{"version": 1, "lineLength": 120, "indentation": {"spaces": 4}}"#)
        let lint = try await ExternalCommand(
            try await Toolchain.find().swift, ["format", "lint", "--strict", "--recursive", "workflows"], in: repository
        ).run()
        #expect(lint.succeeded, "\(lint.text)")
    }

    @Test(arguments: [("", ["Package.swift", "Package.resolved"]), ("Package.resolved\n.build\n", [])])
    func `committed lock files are inputs`(ignored: String, inputs: [String]) async throws {
        try room.file("my-tool/Package.swift", ".testTarget(")
        try room.file("my-tool/Package.resolved", "{}")
        try room.file("my-tool/.gitignore", ignored)
        let program = try await program(try SeedWorkflows(for: SeedProject(directory: repository)).files)
        let plan = try await program.plan(workflow: "test", context: .example)
        #expect(plan.steps.first { $0.name == "resolve" }?.inputs == inputs)
    }

    private func seeds() throws -> SeedWorkflows { try SeedWorkflows(for: SeedProject(directory: repository)) }

    @Test func `nothing is overwritten`() throws {
        try room.file("my-tool/Makefile", "test:\n")
        try room.file("my-tool/workflows/release.swift", "mine")
        try room.file("my-tool/workflows/README.md", "words")
        let error = #expect(throws: SeedError.self) { try seeds().write(to: repository) }
        #expect(error?.code == .exists)
        #expect(room.text("my-tool/workflows/release.swift") == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(repository)/workflows").count == 2)
    }

    @Test func `written files are reported`() throws {
        try room.file("my-tool/Makefile", "test:\n")
        let written = try seeds().write(to: repository)
        #expect(written.count == 3)
        #expect(written.allSatisfy { room.text("my-tool/\($0)") != nil })
        #expect(throws: SeedError.self) { try seeds().write(to: repository) }
    }

    @Test func `a folder that can't be written is reported in plain words`() throws {
        try room.file("my-tool/Makefile", "test:\n")
        // A file at the folder's path blocks even root.
        try room.file("my-tool/workflows", "a file")
        let error = #expect(throws: SeedObstacle.self) { try seeds().write(to: repository) }
        #expect(error?.reason != nil)
    }

    /// Repositories that used to pass without any test.
    @Test(arguments: [
        [:], ["README.md": ""], ["Package.swift": "// .testTarget(name: \"A\")\n.target(name: \"A\")"],
        ["package.json": "{}"],
        ["package.json": "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}"],
        ["pyproject.toml": "[project]"], ["setup.py": ""], ["CMakeLists.txt": "project(a)"], ["go.mod": "module a"],
        ["Cargo.toml": "", "src/lib.rs": "fn a() {}"], ["Makefile": "all:\n\ttrue\n"], ["pom.xml": ""],
        ["build.gradle": ""], ["A.xcodeproj/project.pbxproj": ""], ["meson.build": ""], ["configure.ac": ""],
    ])
    func whereNothingTestsNothingIsWritten(files: [String: String]) throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        let error = #expect(throws: SeedError.self) { try seeds() }
        #expect(error?.code == .untestable)
        // On request there is a step, and it fails.
        let placeholder = try SeedWorkflows(for: SeedProject(directory: repository), source: .placeholder)
        let command = try #require(placeholder.recipes.first?.steps.last?.command)
        #expect(command.hasSuffix("exit 1"))
        let own = try SeedWorkflows(for: SeedProject(directory: repository), source: .command("script/test \"a\""))
        #expect(own.recipes.flatMap { $0.steps.map(\.command) } == ["script/test \"a\""])
        #expect(own.files[1].text.contains("run: \"script/test \\\"a\\\"\""))
    }

    @Test(arguments: [
        (["Makefile": "test:\n"], "/// Builds and tests what was merged once more"),
        (["tests/test_a.py": ""], "/// Tests what was merged once more"),
    ])
    func headersSayWhatIsDone(files: [String: String], header: String) throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        #expect(try seeds().files[2].text.contains(header))
    }

    @Test(arguments: [
        (["pytest.ini": ""], "pytest"),
        (["tox.ini": "[testenv]\ndeps =\n    mock>=1\n    -rx\n[other]\n"], "'mock>=1' pytest"),
        (["setup.cfg": "[metadata]\n[options.extras_require]\ntesting =\n  a\n"], "-e \".[testing]\" pytest"),
        (
            ["pyproject.toml": "[project]\n[dependency-groups]\ntest = [\n  \"hypothesis[x]>=6\",\n  \"pytest\",\n]\n"],
            "-e . 'hypothesis[x]>=6' pytest"
        ),
        (
            ["pyproject.toml": "[tool.poetry]\n[tool.poetry.group.dev.dependencies]\nfreezegun = \"1\"\n"],
            "-e . freezegun pytest"
        ),
        (["requirements.txt": "", "requirements-dev.txt": ""], "-r requirements.txt -r requirements-dev.txt pytest"),
        (["setup.cfg": "[tool:pytest]\naddopts = --cov=a\n"], "pytest pytest-cov"),
        (["tox.ini": "[testenv]\ndeps = $(touch pwned)\n  `x`\n  ; y\n"], "pytest"),
    ])
    func aPythonEnvironmentHasWhatTheTestsNeed(files: [String: String], packages: String) throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        try room.file("my-tool/tests/test_a.py", "")
        let command = try seeds().recipes.first?.steps.first?.command
        #expect(command?.components(separatedBy: "install --quiet ").last == packages)
    }

    @Test func `the environment of a project that compiles is not an output`() throws {
        try room.file("my-tool/tests/test_a.py", "")
        try room.file("my-tool/setup.py", "setup(name='a')")
        #expect(try seeds().recipes[0].steps[0].outputs == [".venv/**"])
        try room.file("my-tool/setup.py", "setup(name='a', ext_modules=[])")
        #expect(try seeds().recipes[0].steps[0].outputs.isEmpty)
    }

    @Test(arguments: [
        ("jest --ci", "npm test -- --json --outputFile=build/jest.json", "build/jest.json"),
        ("NODE_ENV=test vitest", "npm test -- --run --reporter=default", "build/tests.xml"),
        ("mocha", "npm test -- --reporter json", "build/mocha.json"),
        ("node --test lib", "NODE_OPTIONS=", "build/tests.xml"), ("tsc && jest", "npm test", nil),
        ("tap", "npm test", nil),
    ])
    func aRunnerOfJavaScriptIsAskedForAReport(script: String, command: String, results: String?) throws {
        try room.file("my-tool/package.json", "{\"scripts\": {\"test\": \"\(script)\"}}")
        let step = try #require(try seeds().recipes.first?.steps.last)
        #expect(step.command.contains(command))
        #expect(step.results.first == results)
    }

    @Test func `options that build tests are switched on`() {
        let text = """
            option(FOO_BUILD_TESTS "Tests" OFF)
            option(BUILD_TESTING "Tests" ON)
            option( bar_enable_tests "x y" )
            option(JSON_BuildTests "Tests" ${MAIN})
            option(FOO_TEST_NETWORK "Tests" OFF)
            """
        #expect(NativeRecipe.testOptions(text) == ["FOO_BUILD_TESTS", "bar_enable_tests"])
    }

    /// SwiftPM itself reads it, which finds more than a search of the text.
    @Test(.timeLimit(.minutes(2))) func `a manifest's declarations are read through SwiftPM`() async throws {
        try room.file(
            "my-tool/Package.swift",
            """
            // swift-tools-version: 5.9
            import PackageDescription
            let kinds = ["A", "B"]
            let package = Package(
                name: "my-tool",
                targets: kinds.map { .executableTarget(name: $0) } + kinds.map { .testTarget(name: $0 + "Tests", path: "Checks/" + $0) }
            )
            """)
        let manifest = try await PackageManifest.read(
            in: repository, toolchain: try await Toolchain.find(), programSandbox: .none)
        #expect(
            manifest == PackageManifest(name: "my-tool", testTargets: ["ATests", "BTests"], executables: ["A", "B"]))
        try room.file("my-tool/Package.swift", "this is no manifest")
        await #expect(throws: DefinitionError.self) {
            try await PackageManifest.read(
                in: repository, toolchain: try await Toolchain.find(), programSandbox: .none)
        }
    }

    @Test func `a working tree inside another repository is recognised`() throws {
        #expect(!SeedProject(directory: repository).isRepository)
        try room.file("my-tool/.git/HEAD", "ref: refs/heads/x\n")
        try room.file("my-tool/.git/refs/heads/master", "1")
        try room.file("my-tool/.git/worktrees/other/HEAD", "ref: refs/heads/y\n")
        try room.file("my-tool/.git/worktrees/other/commondir", "../..\n")
        try room.file("other/.git", "gitdir: \(repository)/.git/worktrees/other\n")
        try room.file("my-tool/sub/file", "")
        #expect(SeedProject(directory: repository).isRepository)
        #expect(SeedProject(directory: "\(room.path)/other").branch == "master")
        #expect(SeedProject(directory: "\(repository)/sub").enclosingRepository == repository)
    }

    @Test(arguments: [
        (
            [
                ".git/HEAD": "ref: refs/heads/feature\n",
                ".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/trunk\n",
            ], "trunk"
        ),
        ([".git/HEAD": "ref: refs/heads/feature\n", ".git/refs/heads/master": "1"], "master"),
        ([".git/HEAD": "ref: refs/heads/feature\n", ".git/packed-refs": "# pack-refs\n11 refs/heads/main\n"], "main"),
        ([".git/HEAD": "ref: refs/heads/dev\n"], "dev"),
        ([".git/HEAD": "0123456789"], "main"),
        ([:], "main"),
    ])
    func theBranchIsTheRepositorysOwn(files: [String: String], branch: String) throws {
        for (name, text) in files { try room.file("my-tool/\(name)", text) }
        try room.file("my-tool/Makefile", "test:\n")
        let seeds = try self.seeds().files
        #expect(seeds[1].text.contains("on: .pullRequest(into: \"\(branch)\")"))
        #expect(seeds[2].text.contains("on: .merge(into: \"\(branch)\")"))
        let chosen = try SeedWorkflows(for: SeedProject(directory: repository), branch: "next").files
        #expect(chosen[1].text.contains("into: \"next\""))
    }

    /// Names come from the repository: none of them may become Swift or shell code.
    @Test(arguments: ["a\"; fatalError(); let x = \"", "\\(fatalError())", "$(touch pwned)", "'; touch pwned; '"])
    func `a hostile name stays a name`(name: String) async throws {
        try room.file("my-tool/\(name).xcodeproj/xcshareddata/xcschemes/\(name).xcscheme", "<TestableReference/>")
        try room.file("my-tool/\(name)/go.mod", "")
        let program = try await program(try seeds().files)
        let plan = try await program.plan(workflow: "test", context: .example)
        let step = try #require(plan.steps.first { $0.name == "resolve" })
        guard case .shell(let line) = step.action else {
            Issue.record("resolve is not a shell line")
            return
        }
        let shown = try await ExternalCommand(
            "/bin/sh", ["-c", "xcodebuild() { for word; do echo \"$word\"; done; }\n\(line)"], in: room.path
        ).run()
        let words = shown.text.split(separator: "\n").map(String.init)
        #expect(words.count > 3 && words[1] == "\(name).xcodeproj" && words[3] == name)
        #expect(room.text("pwned") == nil)
    }

    /// Runs the archive's lines twice, at different times and over files with other dates and modes.
    @Test(arguments: ["", ".executable(name: \"tool\", targets: [])"])
    func `the archive has the same bytes each time`(manifest: String) async throws {
        try room.file("my-tool/Package.swift", manifest + ".testTarget(")
        try room.file("my-tool/bin/tool", "program", executable: true)
        let plan = try await program(try seeds().files).plan(workflow: "release", context: .example)
        let step = try #require(plan.steps.first { $0.name == "archive" })
        guard case .shell(let line) = step.action else {
            Issue.record("archive is not a shell line")
            return
        }
        let git = "git -c user.name=x -c user.email=x@example.com"
        let made = try await ExternalCommand(
            "/bin/sh", ["-ec", "git init -q . && git add -A && \(git) commit -q -m x && \(git) tag v1/1.2.0"],
            in: repository
        ).run()
        #expect(made.succeeded, "\(made.text)")
        var sums: [String] = []
        for round in 1...2 {
            let prepare = "swift() { echo \"$PWD/bin\"; }\ntouch -d '\(2000 + round)-01-01' bin/tool; rm -rf dist\n"
            let result = try await ExternalCommand("/bin/sh", ["-ec", prepare + line], in: repository).run()
            #expect(result.succeeded, "\(result.text)")
            sums.append(try #require(room.text("my-tool/dist/SHA256SUMS")))
        }
        #expect(sums[0] == sums[1])
        #expect(sums[0].hasSuffix("  my-tool-v1-1.2.0.tar.gz\n"))
    }
}
