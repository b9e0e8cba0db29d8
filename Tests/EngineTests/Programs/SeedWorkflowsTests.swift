import Engine
import Foundation
import Pipeline
import Testing

/// `pipectl init`. `Seeds` beside this file is a link to `Sources/pipectl/Init`: tests can't import a program.
@Suite(.programRoom, .timeLimit(.minutes(3))) struct SeedWorkflowsTests {
    private let room = ProgramRoom.current

    private var repository: String { "\(room.path)/my-tool" }

    private func program(_ seeds: [SeedFile]) async throws -> WorkflowProgram {
        try await room.cache().program(for: .files(Dictionary(uniqueKeysWithValues: seeds.map { ($0.path, $0.text) })))
    }

    struct Kind: CustomTestStringConvertible {
        var testDescription: String
        var files: [String: String]
        /// The steps of "test", then those of "release".
        var test: [String]
        var release: [String]
        init(_ name: String, _ files: [String: String], test: [String], release: [String]) {
            (testDescription, self.files, self.test, self.release) = (name, files, test, release)
        }
    }

    @Test(arguments: [
        Kind("empty", [:], test: ["tests"], release: ["archive"]),
        Kind(
            "Swift package", ["Package.swift": "", "Tests/x": "", "Sources/x": "", ".swift-format": "{}"],
            test: ["resolve", "build", "unit tests", "format"], release: ["resolve", "unit tests", "build", "archive"]),
        Kind(
            "Swift package without tests", ["Package.swift": ".executableTarget(name: \"my-tool\")"],
            test: ["resolve", "build"], release: ["resolve", "build", "archive"]),
        Kind(
            "Xcode project", ["My App.xcodeproj/project.pbxproj": ""], test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "archive build", "archive"]),
        Kind(
            "Xcode workspace", ["It's.xcworkspace/x": "", "A.xcodeproj/x": ""],
            test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "archive build", "archive"]),
        Kind(
            "Cargo", ["Cargo.toml": "", "Cargo.lock": "", "rustfmt.toml": ""],
            test: ["resolve", "build", "unit tests", "format"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Go", ["go.mod": ""], test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "npm", ["package.json": "{\"scripts\": {\"build\": \"x\"}}", "package-lock.json": ""],
            test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "pnpm", ["package.json": "{}", "pnpm-lock.yaml": ""], test: ["resolve", "unit tests"],
            release: ["resolve", "unit tests", "archive"]),
        Kind(
            "Python", ["pyproject.toml": ""], test: ["resolve", "unit tests"],
            release: ["resolve", "unit tests", "archive"]),
        Kind(
            "Maven", ["pom.xml": "", "mvnw": ""], test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "Gradle", ["build.gradle.kts": ""], test: ["resolve", "build", "unit tests"],
            release: ["resolve", "build", "unit tests", "release build", "archive"]),
        Kind(
            "CMake", ["CMakeLists.txt": ""], test: ["build", "unit tests"],
            release: ["build", "unit tests", "release build", "archive"]),
        Kind(
            "Make", ["Makefile": "CC := clang\nall:\n\ttrue\ncheck: all\n\ttrue\n"], test: ["build", "unit tests"],
            release: ["build", "unit tests", "release build", "archive"]),
        Kind(
            "Make without tests", ["Makefile": "all:\n\ttrue\n"], test: ["build"],
            release: ["build", "release build", "archive"]),
    ])
    func theSeedsCompileAndCanRun(kind: Kind) async throws {
        for (name, text) in kind.files { try room.file("my-tool/\(name)", text) }
        let seeds = try SeedWorkflows.files(for: repository)
        #expect(seeds.map(\.path) == ["workflows/Workflows.swift", "workflows/test.swift", "workflows/release.swift"])
        let program = try await program(seeds)
        #expect(program.names == ["test", "release"])
        #expect(program.description.workflows.map { $0.triggers.map(\.event) } == [[.pullRequest], [.merge]])
        // Plans are only given out when validation has found nothing.
        let test = try await program.plan(workflow: "test", context: .example)
        #expect(Set(test.steps.map(\.name)) == Set(kind.test))
        let release = try await program.plan(workflow: "release", context: .example)
        #expect(Set(release.steps.map(\.name)) == Set(kind.release))
        // Only the step that says so may use the network, and it is the first of its chain.
        for step in test.steps + release.steps where step.network == .allowed {
            #expect(step.name == "resolve")
            #expect(step.needs.isEmpty)
        }
        for seed in seeds { #expect(seed.text.split(separator: "\n").allSatisfy { $0.count <= 200 }) }
    }

    @Test(.timeLimit(.minutes(1))) func theSeedsOfASwiftPackageAreFormatted() async throws {
        try room.file("my-tool/Package.swift", ".executable(name: \"tool\", targets: [])")
        try room.file("my-tool/Tests/x", "")
        try SeedWorkflows.write(to: repository)
        try room.file("my-tool/.swift-format", #"{"version": 1, "lineLength": 120, "indentation": {"spaces": 4}}"#)
        let lint = try await Tool(
            try await Toolchain.find().swift, ["format", "lint", "--strict", "--recursive", "workflows"], in: repository
        ).run()
        #expect(lint.succeeded, "\(lint.text)")
    }

    @Test(arguments: [("", ["Package.swift", "Package.resolved"]), ("Package.resolved\n.build\n", [])])
    func pinnedVersionsAreInputsWhereTheyAreCommitted(ignored: String, inputs: [String]) async throws {
        try room.file("my-tool/Package.swift", "")
        try room.file("my-tool/Package.resolved", "{}")
        try room.file("my-tool/.gitignore", ignored)
        let program = try await program(try SeedWorkflows.files(for: repository))
        let plan = try await program.plan(workflow: "test", context: .example)
        #expect(plan.steps.first { $0.name == "resolve" }?.inputs == inputs)
    }

    @Test func nothingIsOverwritten() throws {
        try room.file("my-tool/workflows/release.swift", "mine")
        try room.file("my-tool/workflows/README.md", "words")
        let error = #expect(throws: SeedError.self) { try SeedWorkflows.write(to: repository) }
        #expect(error?.existing == ["workflows/release.swift"])
        #expect(error?.description.contains("workflows/release.swift is here already") == true)
        #expect(room.text("my-tool/workflows/release.swift") == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(repository)/workflows").count == 2)
    }

    @Test func whatWasWrittenIsSaid() throws {
        try room.file("my-tool/Makefile", "")
        let written = try SeedWorkflows.write(to: repository)
        #expect(written.count == 3)
        #expect(written.allSatisfy { room.text("my-tool/\($0)") != nil })
        #expect(throws: SeedError.self) { try SeedWorkflows.write(to: repository) }
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
        let seeds = try SeedWorkflows.files(for: repository)
        #expect(seeds[1].text.contains("on: .pullRequest(into: \"\(branch)\")"))
        #expect(seeds[2].text.contains("on: .merge(into: \"\(branch)\")"))
        let chosen = try SeedWorkflows.files(for: repository, branch: "next")
        #expect(chosen[1].text.contains("into: \"next\""))
    }

    /// Names are the repository's: none of them may become Swift or shell.
    @Test(arguments: [
        "a\"; fatalError(); let x = \".xcodeproj", "\\(fatalError()).xcodeproj", "$(touch pwned).xcodeproj",
        "'; touch pwned; '.xcodeproj",
    ])
    func aHostileNameStaysAName(name: String) async throws {
        try room.file("my-tool/\(name)/x", "")
        let program = try await program(try SeedWorkflows.files(for: repository))
        let plan = try await program.plan(workflow: "test", context: .example)
        let step = try #require(plan.steps.first { $0.name == "resolve" })
        guard case .shell(let line) = step.action else {
            Issue.record("resolve is not a shell line")
            return
        }
        let shown = try await Tool(
            "/bin/sh", ["-c", "xcodebuild() { for word; do echo \"$word\"; done; }\n\(line)"], in: room.path
        ).run()
        #expect(shown.text.split(separator: "\n").dropFirst().first.map(String.init) == name)
        #expect(room.text("pwned") == nil)
    }

    /// The archive's own lines, run twice at different times over files with other dates and modes.
    @Test(arguments: ["", ".executable(name: \"tool\", targets: [])"])
    func theArchiveHasTheSameBytesEachTime(manifest: String) async throws {
        try room.file("my-tool/Package.swift", manifest)
        try room.file("my-tool/bin/tool", "program", executable: true)
        let seeds = try SeedWorkflows.files(for: repository)
        let plan = try await program(seeds).plan(workflow: "release", context: .example)
        let step = try #require(plan.steps.first { $0.name == "archive" })
        guard case .shell(let line) = step.action else {
            Issue.record("archive is not a shell line")
            return
        }
        let git = "git -c user.name=x -c user.email=x@example.com"
        let made = try await Tool(
            "/bin/sh", ["-ec", "git init -q . && git add -A && \(git) commit -q -m x && \(git) tag v1/1.2.0"],
            in: repository
        ).run()
        #expect(made.succeeded, "\(made.text)")
        var sums: [String] = []
        for round in 1...2 {
            let prepare = "swift() { echo \"$PWD/bin\"; }\ntouch -d '\(2000 + round)-01-01' bin/tool; rm -rf dist\n"
            let result = try await Tool("/bin/sh", ["-ec", prepare + line], in: repository).run()
            #expect(result.succeeded, "\(result.text)")
            sums.append(try #require(room.text("my-tool/dist/SHA256SUMS")))
        }
        #expect(sums[0] == sums[1])
        #expect(sums[0].hasSuffix("  my-tool-v1-1.2.0.tar.gz\n"))
    }
}
