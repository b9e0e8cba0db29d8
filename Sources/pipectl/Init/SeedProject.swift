import Foundation
import Pipeline

/// What can be seen of a repository without running anything of it.
struct SeedProject {
    let directory: String
    private let names: Set<String>

    init(directory: String) {
        self.directory = directory
        names = Set((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    }

    /// The name for archives: the package's, else the folder's, in characters that need no quoting anywhere.
    var name: String {
        let folder = URL(fileURLWithPath: directory).standardizedFileURL.lastPathComponent
        let package = text("Package.swift")?.firstMatch(of: /Package\(\s*name:\s*"([^"]+)"/).map { String($0.1) }
        let plain = (package ?? folder).filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
            .drop { "._-".contains($0) }
        return plain.isEmpty ? "release" : String(plain)
    }

    /// The branch that changes go into: what the remote says, else `main` or `master`, else the one checked out.
    var branch: String {
        func name(in file: String, after prefix: String) -> String? {
            guard let text = text(file)?.trimmingCharacters(in: .whitespacesAndNewlines), text.hasPrefix(prefix)
            else { return nil }
            return String(text.dropFirst(prefix.count))
        }
        if let remote = name(in: ".git/refs/remotes/origin/HEAD", after: "ref: refs/remotes/origin/") { return remote }
        let packed = text(".git/packed-refs")?.split(separator: "\n") ?? []
        for candidate in ["main", "master"] {
            let ref = "refs/heads/\(candidate)"
            if has(".git/\(ref)") || packed.contains(where: { $0.hasSuffix(" \(ref)") }) { return candidate }
        }
        return name(in: ".git/HEAD", after: "ref: refs/heads/") ?? "main"
    }

    var recipe: SeedRecipe {
        if names.contains("Package.swift") { return swiftPackage }
        for suffix in [".xcworkspace", ".xcodeproj"] {
            if let project = names.filter({ $0.hasSuffix(suffix) }).min() { return xcode(project) }
        }
        if names.contains("Cargo.toml") { return cargo }
        if names.contains("go.mod") { return go }
        if names.contains("package.json") { return node }
        if names.contains("pyproject.toml") || names.contains("setup.py") { return python }
        if names.contains("pom.xml") { return maven }
        if names.contains("build.gradle") || names.contains("build.gradle.kts") { return gradle }
        if names.contains("CMakeLists.txt") { return cmake }
        if let makefile = ["GNUmakefile", "makefile", "Makefile"].first(where: names.contains) {
            return make(makefile)
        }
        return placeholder
    }

    // MARK: - Swift

    private var swiftPackage: SeedRecipe {
        let hasTests = has("Tests")
        let resolve = SeedRecipe.SeedStep(
            name: "resolve", command: "swift package resolve",
            // With its versions pinned it needs to be done again only where they change.
            modifiers: [".network(.allowed)"]
                + (keeps("Package.resolved") ? [".inputs(\"Package.swift\", \"Package.resolved\")"] : []),
            comment: "The only step that may use the network.")
        let build = SeedRecipe.SeedStep(
            name: "build", command: hasTests ? "swift build --build-tests" : "swift build", needs: ["resolve"])
        let tests = SeedRecipe.SeedStep(
            name: "unit tests", command: "swift test --skip-build --parallel --xunit-output .build/tests.xml",
            needs: ["build"], modifiers: [".timeout(.minutes(15))", ".testResults(.junit(\".build/tests*.xml\"))"])
        let releaseBuild = SeedRecipe.SeedStep(
            name: "build", command: "swift build -c release", needs: [hasTests ? "unit tests" : "resolve"])
        var releaseTests = tests
        releaseTests.command = "swift test --parallel --xunit-output .build/tests.xml"
        releaseTests.needs = ["resolve"]
        var recipe = SeedRecipe(
            steps: [resolve, build] + (hasTests ? [tests] : []),
            releaseSteps: [resolve] + (hasTests ? [releaseTests] : []) + [releaseBuild])
        if has(".swift-format") {
            let folders = ["Package.swift", "Sources", "Tests"].filter(has).joined(separator: " ")
            recipe.checks = [
                SeedRecipe.SeedStep(name: "format", command: "swift format lint --strict --recursive \(folders)")
            ]
        }
        let programs = executables
        if !programs.isEmpty {
            let files = programs.map(\.shellQuoted).joined(separator: " ")
            #if os(macOS)
                // bsdtar knows no --mtime and no --sort.
                recipe.archive = [
                    "cd \"$(swift build -c release --show-bin-path)\" && touch -t 198001010000 \(files)",
                    "tar -cf - --uid 0 --gid 0 \(files) | gzip -9n > \"$PIPECTL_WORKSPACE/dist/$name.tar.gz\"",
                    "cd \"$PIPECTL_WORKSPACE\"",
                ]
            #else
                recipe.archive = [
                    "tar --sort=name --format=gnu --mtime=@$(git log -1 --format=%ct) --owner=0 --group=0 --numeric-owner \\\\",
                    "    --mode=go=rX -C \"$(swift build -c release --show-bin-path)\" -cf - \(files) \\\\",
                    "    | gzip -9n > \"dist/$name.tar.gz\"",
                ]
            #endif
            recipe.archiveComment = "Sorted, without owners, dated by the commit: equal contents make equal bytes."
        }
        return recipe
    }

    /// The names of the manifest's executables, by its text: running a manifest would run the repository's code.
    private var executables: [String] {
        guard let manifest = text("Package.swift") else { return [] }
        let products = manifest.matches(of: /\.executable\(\s*name:\s*"([A-Za-z0-9._-]+)"/).map { String($0.1) }
        let targets = manifest.matches(of: /\.executableTarget\(\s*name:\s*"([A-Za-z0-9._-]+)"/).map { String($0.1) }
        return Array(Set(products.isEmpty ? targets : products)).sorted()
    }

    private func xcode(_ project: String) -> SeedRecipe {
        let scheme = String(project.prefix(upTo: project.lastIndex(of: ".") ?? project.endIndex))
        let kind = project.hasSuffix(".xcworkspace") ? "-workspace" : "-project"
        let base = "xcodebuild \(kind) \(project.shellQuoted) -scheme \(scheme.shellQuoted) -derivedDataPath build"
        let resolve = SeedRecipe.SeedStep(
            name: "resolve", command: "\(base) -resolvePackageDependencies", modifiers: [".network(.allowed)"],
            comment: "The only step that may use the network.")
        let build = SeedRecipe.SeedStep(
            name: "build", command: "\(base) -destination 'platform=macOS' build-for-testing", needs: ["resolve"],
            comment: "For a simulator: -destination 'platform=iOS Simulator,name=iPhone 17'.")
        let tests = SeedRecipe.SeedStep(
            name: "unit tests",
            command:
                "\(base) -destination 'platform=macOS' -resultBundlePath build/tests.xcresult test-without-building",
            needs: ["build"], modifiers: [".timeout(.minutes(30))", ".artifacts(\"build/tests.xcresult/**\")"])
        let archive = SeedRecipe.SeedStep(
            name: "archive build", command: "\(base) -configuration Release -destination 'platform=macOS' clean build",
            needs: ["unit tests"])
        return SeedRecipe(steps: [resolve, build, tests], releaseSteps: [resolve, build, tests, archive])
    }

    // MARK: - Others

    private var cargo: SeedRecipe {
        let locked = has("Cargo.lock") ? " --locked" : ""
        var recipe = simple(
            resolve: "cargo fetch\(locked)", build: "cargo build --all-targets\(locked)", test: "cargo test\(locked)",
            release: "cargo build --release\(locked)")
        if has("rustfmt.toml") || has(".rustfmt.toml") {
            recipe.checks = [SeedRecipe.SeedStep(name: "format", command: "cargo fmt --check")]
        }
        return recipe
    }

    private var go: SeedRecipe {
        simple(resolve: "go mod download", build: "go build ./...", test: "go test ./...", release: "go build ./...")
    }

    private var node: SeedRecipe {
        let (install, run) =
            has("pnpm-lock.yaml")
            ? ("pnpm install --frozen-lockfile", "pnpm")
            : has("yarn.lock")
                ? ("yarn install --frozen-lockfile", "yarn")
                : (has("package-lock.json") ? "npm ci" : "npm install", "npm")
        let build = "\(run) run build"
        let hasBuild = text("package.json")?.contains("\"build\"") ?? false
        return simple(
            resolve: install, build: hasBuild ? build : nil, test: "\(run) test", release: hasBuild ? build : nil)
    }

    private var python: SeedRecipe {
        simple(
            resolve: "python3 -m venv .venv && .venv/bin/pip install pytest -e .", build: nil,
            test: ".venv/bin/python -m pytest --junitxml=build/tests.xml", release: nil,
            results: ".testResults(.junit(\"build/tests.xml\"))")
    }

    private var maven: SeedRecipe {
        let mvn = has("mvnw") ? "./mvnw" : "mvn"
        return simple(
            resolve: "\(mvn) -B dependency:go-offline", build: "\(mvn) -B -o test-compile", test: "\(mvn) -B -o verify",
            release: "\(mvn) -B -o clean package -DskipTests",
            results: ".testResults(.junit(\"**/target/surefire-reports/*.xml\"))")
    }

    private var gradle: SeedRecipe {
        let gradle = has("gradlew") ? "./gradlew" : "gradle"
        return simple(
            resolve: "\(gradle) --no-daemon dependencies", build: "\(gradle) --no-daemon --offline testClasses",
            test: "\(gradle) --no-daemon --offline check", release: "\(gradle) --no-daemon --offline clean assemble",
            results: ".testResults(.junit(\"**/build/test-results/**/*.xml\"))")
    }

    private var cmake: SeedRecipe {
        simple(
            resolve: nil, build: "cmake -B build && cmake --build build --parallel",
            test: "ctest --test-dir build --output-on-failure --output-junit tests.xml",
            release: "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --parallel --clean-first",
            results: ".testResults(.junit(\"build/tests.xml\"))")
    }

    private func make(_ file: String) -> SeedRecipe {
        let targets = (text(file) ?? "").split(separator: "\n").compactMap { line in
            line.prefixMatch(of: /([A-Za-z0-9_-]+)\s*:(?!=)/).map { String($0.1) }
        }
        let test = ["test", "check", "tests"].first(where: targets.contains)
        return simple(resolve: nil, build: "make", test: test.map { "make \($0)" }, release: "make")
    }

    private var placeholder: SeedRecipe {
        let tests = SeedRecipe.SeedStep(
            name: "tests", command: "echo 'Nothing is tested yet: write your test command in workflows/test.swift'",
            comment: "Put your own commands here, for example run: \"script/test\".")
        return SeedRecipe(steps: [tests], releaseSteps: [])
    }

    private func simple(
        resolve: String?, build: String?, test: String?, release: String?, results: String? = nil
    ) -> SeedRecipe {
        var steps: [SeedRecipe.SeedStep] = []
        func add(_ name: String, _ command: String?, _ modifiers: [String] = [], comment: String? = nil) {
            guard let command else { return }
            steps.append(
                SeedRecipe.SeedStep(
                    name: name, command: command, needs: steps.last.map { [$0.name] } ?? [], modifiers: modifiers,
                    comment: comment))
        }
        add("resolve", resolve, [".network(.allowed)"], comment: "The only step that may use the network.")
        add("build", build)
        add("unit tests", test, [".timeout(.minutes(15))"] + (results.map { [$0] } ?? []))
        let tested = steps
        add("release build", release)
        return SeedRecipe(steps: tested, releaseSteps: steps)
    }

    // MARK: - Files

    private func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(directory)/\(path)") }

    /// Whether a file is there that Git is not told to leave out.
    private func keeps(_ name: String) -> Bool {
        let ignored = (text(".gitignore") ?? "").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return has(name) && !ignored.contains(name) && !ignored.contains("/" + name)
    }

    private func text(_ path: String) -> String? {
        try? String(contentsOfFile: "\(directory)/\(path)", encoding: .utf8)
    }
}
