import TestBasics
import WorkflowPrograms
import Foundation
import Pipeline
import PlanRules
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite(.programRoom, .timeLimit(.minutes(3))) struct ProgramCacheTests {
    private let room = ProgramRoom.current

    private let good = WorkflowSources.steps(
        """
            let build = Step("build", run: "make")
            build
            Step("test", needs: build, run: "make test").timeout(.minutes(5))
        """)

    // MARK: - Compiling and keeping

    @Test func `workflows are compiled, described and planned`() async throws {
        let program = try await room.cache().program(for: good)
        #expect(program.names == ["test"])
        #expect(program.description.workflows[0].triggers == [.pullRequest(into: "main")])
        let plan = try await program.plan(workflow: "test", context: .example)
        #expect(plan.steps.map(\.name) == ["build", "test"])
        #expect(plan.steps[1].needs == ["build"])
        #expect(plan.steps[1].timeout == 300)
    }

    @Test func `a cached program is not compiled again`() async throws {
        let swiftc = try await room.countingCompiler()
        let cache = try await room.cache(swiftc: swiftc)
        #expect(try cache.program(keptFor: good.tree) == nil)
        let first = try await cache.program(for: good)
        let later = try await room.cache(swiftc: swiftc).program(for: good)
        let known = try await room.cache(swiftc: swiftc).program(keptFor: good.tree)
        #expect(first.key == later.key)
        #expect(known?.executable == first.executable)
        #expect(room.compilations == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: room.programs)
        #expect(!names.contains { $0.hasPrefix("building") || $0.hasPrefix("copying") })
    }

    @Test func `concurrent callers share one compilation`() async throws {
        let swiftc = try await room.countingCompiler()
        // Each cache is like that of another process: the two share nothing in memory.
        let caches = [try await room.cache(swiftc: swiftc), try await room.cache(swiftc: swiftc)]
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<16 {
                group.addTask { try await caches[number % 2].program(for: good).key }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(room.compilations == 1)
    }

    @Test func `waiting callers share a failure, which is not cached`() async throws {
        let swiftc = try await room.countingCompiler()
        let cache = try await room.cache(swiftc: swiftc)
        let bad = WorkflowSources.steps("    nonsense")
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do { _ = try await cache.program(for: bad) } catch let error as DefinitionError {
                        return error.code == .compileFailed
                    } catch {}
                    return false
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 8)
        let compilations = room.compilations
        #expect(compilations < 8)
        await #expect(throws: DefinitionError.self) { try await cache.program(for: bad) }
        #expect(room.compilations == compilations + 1)
    }

    @Test func `the next caller takes over if the compiling one is cancelled`() async throws {
        let real = try await Toolchain.find().swiftc
        let swiftc = try room.script(
            "swiftc",
            """
            case "$*" in *-print-target-info*) exec \(real) "$@";; esac
            if mkdir \(room.path)/first; then sleep 1000; fi
            exec \(real) "$@"
            """)
        let cache = try await room.cache(swiftc: swiftc)
        let leader = Task { try await cache.program(for: good) }
        try await eventually("the first compiler") { FileManager.default.fileExists(atPath: "\(room.path)/first") }
        async let follower = cache.program(for: good)
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        #expect(try await follower.names == ["test"])
    }

    @Test func `the folder of the cache is absolute`() async throws {
        let toolchain = Toolchain(swiftc: "/swiftc", version: "", target: "")
        let library = PipelineLibrary(module: "/m", library: "/l")
        for folder in ["programs", "./programs/", "x/../programs"] {
            let cache = ProgramCache(directory: folder, library: library, toolchain: toolchain)
            #expect(cache.directory == FileManager.default.currentDirectoryPath + "/programs")
        }
    }

    @Test func `other sources give another program`() async throws {
        let cache = try await room.cache()
        let other = WorkflowSources.steps("    Step(\"other\", run: \"true\")")
        #expect(try await cache.program(for: good).key != cache.program(for: other).key)
        #expect(try await cache.program(for: other).plan(workflow: "test", context: .example).steps[0].name == "other")
    }

    @Test func `another build of pipectl compiles again`() async throws {
        let found = try PipelineLibrary.find()
        let copy = "\(room.path)/lib"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        let library = PipelineLibrary(
            module: "\(copy)/Pipeline.swiftmodule",
            library: "\(copy)/\(URL(fileURLWithPath: found.library).lastPathComponent)")
        try FileManager.default.copyItem(atPath: found.library, toPath: library.library)
        try FileManager.default.copyItem(atPath: found.module, toPath: library.module)
        let swiftc = try await room.countingCompiler()
        let cache = try await room.cache(swiftc: swiftc, library: library)
        let first = try await cache.program(for: good)
        // Bytes after the end of an ELF or Mach-O file change nothing but its digest.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: library.library))
        try file.seekToEnd()
        try file.write(contentsOf: Data([0]))
        try file.close()
        let second = try await cache.program(for: good)
        #expect(second.key != first.key)
        #expect(room.compilations == 2)
        // The earlier program has its own copy of the library, and still runs.
        let plan = try await first.plan(workflow: "test", context: .example)
        #expect(plan.steps.count == 2)
    }

    @Test func `another toolchain compiles again`() async throws {
        let real = try await Toolchain.find()
        let later = Toolchain(swiftc: real.swiftc, version: real.version + " (patched)", target: real.target)
        let library = try PipelineLibrary.find()
        let first = try await ProgramCache(
            directory: room.programs, library: library, toolchain: real, modules: Products.moduleCache
        ).program(
            for: good)
        let second = try await ProgramCache(
            directory: room.programs, library: library, toolchain: later, modules: Products.moduleCache
        ).program(
            for: good)
        #expect(first.key != second.key)
    }

    // MARK: - Broken entries

    enum Damage: String, CaseIterable {
        case truncatedProgram, flippedProgram, noProgram, notExecutable, foreignManifest, truncatedManifest, noManifest
        case flippedDescription, noDescription, foreignProgram, noLibrary, truncatedLibrary, emptyFolder,
            fileInsteadOfFolder
    }

    @Test(arguments: Damage.allCases)
    func `a broken entry is rebuilt and not run`(damage: Damage) async throws {
        let swiftc = try await room.countingCompiler()
        let program = try await room.cache(swiftc: swiftc).program(for: good)
        let entry = "\(room.programs)/\(program.key)"
        let files = FileManager.default
        func edit(_ name: String, _ change: (inout Data) -> Void) throws {
            var data = try Data(contentsOf: URL(fileURLWithPath: "\(entry)/\(name)"))
            change(&data)
            try files.removeItem(atPath: "\(entry)/\(name)")
            try data.write(to: URL(fileURLWithPath: "\(entry)/\(name)"))
            if name == "program" {
                try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(entry)/\(name)")
            }
        }
        switch damage {
        case .truncatedProgram: try edit("program") { $0.removeLast($0.count / 2) }
        case .flippedProgram: try edit("program") { $0[$0.count / 2] ^= 1 }
        case .noProgram: try files.removeItem(atPath: program.executable)
        case .notExecutable: try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: program.executable)
        case .foreignManifest:
            let other = try await room.cache(swiftc: swiftc).program(for: .steps("    Step(\"x\", run: \"x\")"))
            try files.removeItem(atPath: "\(entry)/manifest.json")
            try files.copyItem(atPath: "\(room.programs)/\(other.key)/manifest.json", toPath: "\(entry)/manifest.json")
        case .truncatedManifest: try edit("manifest.json") { $0.removeLast(10) }
        case .noManifest: try files.removeItem(atPath: "\(entry)/manifest.json")
        case .flippedDescription: try edit("description.json") { $0[$0.count / 2] ^= 1 }
        case .noDescription: try files.removeItem(atPath: "\(entry)/description.json")
        case .foreignProgram: try edit("program") { $0 = Data("#!/bin/sh\ntouch \(room.path)/foreign-was-run\n".utf8) }
        case .noLibrary:
            for name in try files.contentsOfDirectory(atPath: room.programs) where name.hasPrefix("library-") {
                try files.removeItem(atPath: "\(room.programs)/\(name)")
            }
        case .truncatedLibrary:
            for name in try files.contentsOfDirectory(atPath: room.programs) where name.hasPrefix("library-") {
                for file in try files.contentsOfDirectory(atPath: "\(room.programs)/\(name)")
                where file.hasPrefix("lib") {
                    truncate("\(room.programs)/\(name)/\(file)", 1_000)
                }
            }
        case .emptyFolder:
            try files.removeItem(atPath: entry)
            try files.createDirectory(atPath: entry, withIntermediateDirectories: true)
        case .fileInsteadOfFolder:
            try files.removeItem(atPath: entry)
            try Data().write(to: URL(fileURLWithPath: entry))
        }
        let before = room.compilations
        let again = try await room.cache(swiftc: swiftc).program(for: good)
        #expect(again.key == program.key)
        #expect(room.compilations == before + 1)
        #expect(try await again.plan(workflow: "test", context: .example).steps.count == 2)
        #expect(room.text("foreign-was-run") == nil)
    }

    @Test func `broken modules of the compiler are rebuilt`() async throws {
        func cache(_ folder: String) async throws -> ProgramCache {
            ProgramCache(
                directory: "\(room.path)/\(folder)", library: try PipelineLibrary.find(),
                toolchain: try await Toolchain.find(), modules: "\(room.path)/\(folder)/modules")
        }
        _ = try await cache("one").program(for: good)
        // Modules contain the path that they were written to, so moved ones make every compilation fail.
        try FileManager.default.createDirectory(atPath: "\(room.path)/two", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "\(room.path)/one/modules", toPath: "\(room.path)/two/modules")
        let program = try await cache("two").program(for: good)
        #expect(program.names == ["test"])
    }

    @Test func `locks of a killed compiler block nobody`() async throws {
        let modules = "\(room.path)/modules"
        let cache = ProgramCache(
            directory: room.programs, library: try PipelineLibrary.find(), toolchain: try await Toolchain.find(),
            limits: ProgramLimits(compile: .seconds(40)), modules: modules)
        _ = try await cache.program(for: good)
        // The state that a killed compiler leaves: the module is missing, and its lock names a live process.
        let owner = "\(ProcessInfo.processInfo.hostName) \(getpid())"
        let made = FileManager.default.enumerator(atPath: modules)?.compactMap { $0 as? String } ?? []
        let kept = made.filter { $0.hasSuffix(".pcm") }.map { "\(modules)/\($0)" }
        try #require(!kept.isEmpty)
        for path in kept {
            try FileManager.default.removeItem(atPath: path)
            try Data(owner.utf8).write(to: URL(fileURLWithPath: path + ".lock"))
        }
        let program = try await cache.program(for: .steps(#"Step("other", run: "true")"#))
        #expect(program.names == ["test"])
    }

    @Test func `a cached plan is read, and a broken one is not`() async throws {
        let program = try await room.cache().program(for: good)
        let plan = try await program.plan(workflow: "test", context: .example)
        let folder = "\(room.programs)/\(program.key)/plans"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        // Without its program only a cached plan can answer.
        try FileManager.default.moveItem(atPath: program.executable, toPath: program.executable + ".away")
        #expect(try await program.plan(workflow: "test", context: .example) == plan)
        try FileManager.default.moveItem(atPath: program.executable + ".away", toPath: program.executable)
        var data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        let position = try #require(data.firstRange(of: Data("make".utf8))?.lowerBound)
        data[position] ^= 1
        try data.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        #expect(try await program.plan(workflow: "test", context: .example) == plan)
    }

    // MARK: - Cleaning

    @Test func `unused entries are removed`() async throws {
        let cache = try await room.cache()
        let old = try await cache.program(for: good)
        let other = WorkflowSources.steps("    Step(\"other\", run: \"true\")")
        let used = try await cache.program(for: other)
        try room.file("programs/building-abc/program", "left by a killed build")
        let entry = "\(room.programs)/\(old.key)"
        let past = Date(timeIntervalSinceNow: -1_000_000)
        for path in ["\(entry)/manifest.json", "\(room.programs)/building-abc"] {
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
        }
        let date = Date(timeIntervalSinceNow: -500_000)
        let expected = [entry, "\(room.programs)/building-abc"]
        #expect(try await cache.removeUnused(since: date, dryRun: true) == expected)
        #expect(try cache.program(keptFor: other.tree)?.key == used.key)
        #expect(try await cache.removeUnused(since: date) == expected)
        #expect(try cache.program(keptFor: good.tree) == nil)
        #expect(try cache.program(keptFor: other.tree)?.key == used.key)
        // Later nothing is in use: the library is removed with the last program.
        let all = try await cache.removeUnused(since: Date(timeIntervalSinceNow: 1_000))
        #expect(all.count == 2)
        #expect(try await cache.program(for: good).names == ["test"])
    }

    @Test func `loading a program counts as use`() async throws {
        let cache = try await room.cache()
        let program = try await cache.program(for: good)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -1_000_000)],
            ofItemAtPath: "\(room.programs)/\(program.key)/manifest.json")
        #expect(try cache.program(keptFor: good.tree) != nil)
        #expect(try await cache.removeUnused(since: Date(timeIntervalSinceNow: -500_000)).isEmpty)
    }

    // MARK: - Definition errors

    private func error(_ sources: WorkflowSources) async throws -> DefinitionError {
        let cache = try await room.cache()
        return try #require(await #expect(throws: DefinitionError.self) { try await cache.program(for: sources) })
    }

    @Test(arguments: [
        [:], ["workflows/README.md": "Nothing here."], ["workflows/deeper/test.swift": "import Pipeline"],
    ])
    func `without workflows the error names init`(files: [String: String]) async throws {
        let error = try await error(.files(files))
        #expect(error.code == .noWorkflows)
        #expect(error.message.contains("pipectl init"))
    }

    @Test func `a compile error has the path in the repository`() async throws {
        let error = try await error(
            .files([
                "workflows/good.swift": "import Pipeline\nlet fine = 1\n",
                "workflows/test.swift": "import Pipeline\n\nlet test = Workflow(\"test\") { nonsense }\n",
            ]))
        #expect(error.code == .compileFailed)
        let lines = error.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("workflows/test.swift:3:31: error:") }, "\(lines)")
        #expect(!error.output.contains(room.path))
        #expect(error.description.contains("workflows/test.swift:3:31"))
    }

    @Test func `a missing entry point has an error of its own`() async throws {
        let error = try await error(
            .files([
                "workflows/test.swift": "import Pipeline\nlet test = Workflow(\"test\") { Step(\"a\", run: \"a\") }\n"
            ]))
        #expect(error.code == .noEntryPoint)
        #expect(error.message.contains("@main struct Workflows: WorkflowSet"))
    }

    @Test func `a program with another entry point is refused`() async throws {
        let error = try await error(
            .files(["workflows/test.swift": "@main struct Mine { static func main() { print(\"hello\") } }\n"]))
        #expect(error.code == .badAnswer)
        #expect(error.message.contains("WorkflowSet"))
        #expect(error.output == "hello\n")
    }

    @Test func `a compiler that hangs is ended`() async throws {
        let swiftc = try room.script(
            "swiftc",
            "case \"$*\" in *-print-target-info*) exec \(try await Toolchain.find().swiftc) \"$@\";; esac; sleep 1000")
        let cache = try await room.cache(swiftc: swiftc, limits: ProgramLimits(compile: .milliseconds(300)))
        let error = await #expect(throws: DefinitionError.self) { try await cache.program(for: good) }
        #expect(error?.code == .compileTimedOut)
        #expect(error?.message.contains("300 ms") == true)
    }

    @Test func `a full disk and a mismatched Swift are infrastructure failures`() async throws {
        let real = try await Toolchain.find().swiftc
        for (text, code) in [
            (
                "<unknown>:0: error: error opening 'x' for output: No space left on device",
                ProgramCacheError.Code.diskFull
            ),
            (
                "error: module compiled with Swift 6.4 cannot be imported by the Swift 6.3.1 compiler: x",
                .otherToolchain
            ),
        ] {
            let swiftc = try room.script(
                "swiftc", "case \"$*\" in *-print-target-info*) exec \(real) \"$@\";; esac; echo \"\(text)\"; exit 1")
            let cache = try await room.cache(swiftc: swiftc)
            let error = await #expect(throws: ProgramCacheError.self) { try await cache.program(for: good) }
            #expect(error?.code == code)
            #expect(error?.output.contains(text) == true)
        }
    }

    @Test func `a cache that can't be written names the path`() async throws {
        try room.file("programs", "a file where the folder should be")
        let cache = try await room.cache()
        let error = await #expect(throws: ProgramCacheError.self) { try await cache.program(for: good) }
        #expect(error?.code == .storage)
        #expect(error?.message.contains(room.programs) == true)
    }

    @Test(arguments: [
        "../outside.swift", "workflows/../../x.swift", "/etc/x.swift", "workflows//x.swift", "workflows/a\0.swift",
    ])
    func `a path outside is refused before it is written`(path: String) async throws {
        var sources = good
        sources.files.append(WorkflowFile(path: path, bytes: []))
        let cache = try await room.cache()
        let error = await #expect(throws: DefinitionError.self) { try await cache.program(for: sources) }
        #expect(error?.code == .invalid)
        #expect(!FileManager.default.fileExists(atPath: room.programs))
    }

    @Test func `all findings of the declarations are reported`() async throws {
        let error = try await error(
            .files([
                "workflows/w.swift": """
                import Pipeline
                let step = Step("s", run: "true")
                let a = Workflow("a", on: .pullRequest(into: "[")) { step }
                let b = Workflow("a", on: .schedule("61 * * * *")) { step }
                let c = Workflow("", on: .push()) { step }
                @main struct W: WorkflowSet { static let workflows = [a, b, c] }
                """
            ]))
        #expect(error.code == .invalid)
        #expect(
            Set(error.findings.map(\.rule)) == ["glob", "duplicate-workflow", "schedule", "workflow-name", "trigger"])
        #expect(error.description.contains("61"))
    }

    @Test func `all findings of the plan are reported`() async throws {
        let program = try await room.cache().program(
            for: .steps(
                """
                    let hidden = Step("hidden", run: "true").environment(["": "x"])
                    Step("a", needs: hidden, run: " ").timeout(.zero)
                    Step("a", run: "true").artifacts("/etc/*").workingDirectory("..")
                """))
        for _ in 1...2 {
            let error = await #expect(throws: DefinitionError.self) {
                try await program.plan(workflow: "test", context: .example)
            }
            #expect(error?.code == .invalid)
            #expect(
                Set(error?.findings.map(\.rule) ?? [])
                    == ["duplicate-step", "environment", "glob", "command", "limits", "folder"])
        }
    }

    @Test func `validation finds mistakes in declarations and plans at once`() async throws {
        let sources = WorkflowSources.files([
            "workflows/w.swift": """
            import Pipeline
            let level = Parameter("level", choices: ["low", "high"])
            let a = Workflow("a", on: .pullRequest(into: "["), .merge(into: "main"), parameters: [level]) { context in
                Step(context[level], run: "true")
                if context.event == .merge { Step("only merged", run: "") }
            }
            let b = Workflow("b") { Step("x", run: "") }
            @main struct W: WorkflowSet { static let workflows = [a, b] }
            """
        ])
        let findings = try await room.cache().findings(for: sources)
        #expect(findings.map(\.rule) == ["glob", "command", "command"])
        #expect(findings.map(\.workflow) == ["a", "a", "b"])
        #expect(try await room.cache().findings(for: good).isEmpty)
    }

    @Test func `validation finds releases that a trigger can't start`() async throws {
        let sources = WorkflowSources.files([
            "workflows/w.swift": """
            import Pipeline
            let a = Workflow("a", on: .tag(matching: "v*"), .merge(into: "main")) {
                let build = Step("build", run: "make").artifacts("dist/*")
                Release(version: .tag(), needs: build).step
            }
            let b = Workflow("b", on: .tag(matching: "v*"), .pullRequest(into: "main")) { context in
                let build = Step("build", run: "make").artifacts("dist/*")
                if context.event == .tag { Release(version: .tag(), needs: build).step } else { build }
            }
            @main struct W: WorkflowSet { static let workflows = [a, b] }
            """
        ])
        let findings = try await room.cache().findings(for: sources)
        #expect(findings.map(\.rule) == ["release"])
        #expect(findings.map(\.workflow) == ["a"])
    }

    @Test func `an unknown workflow names the nearest one and all others`() async throws {
        let program = try await room.cache().program(
            for: .files([
                "workflows/w.swift": """
                import Pipeline
                let all = ["test", "release", "nightly docs"].map { name in Workflow(name) { Step("s", run: "true") } }
                @main struct W: WorkflowSet { static let workflows = all }
                """
            ]))
        for (given, guess) in [
            ("tset", "test"), ("relase", "release"), ("Test", "test"), ("nightly-docs", "nightly docs"),
        ] {
            let error = await #expect(throws: DefinitionError.self) {
                try await program.plan(workflow: given, context: .example)
            }
            #expect(error?.code == .unknownWorkflow)
            #expect(error?.message.contains("Did you mean \"\(guess)\"?") == true)
            #expect(error?.message.contains("test, release, nightly docs") == true)
        }
        #expect(throws: DefinitionError.self) { try program.declaration(of: String(repeating: "x", count: 100_000)) }
        let stranger = #expect(throws: DefinitionError.self) { try program.declaration(of: "deploy") }
        #expect(stranger?.message.contains("Did you mean") == false)
    }

    // MARK: - Programs that answer badly

    struct BadProgram: CustomTestStringConvertible {
        var testDescription: String
        var code: DefinitionError.Code
        var main: String
        init(_ name: String, _ code: DefinitionError.Code, _ main: String) {
            (testDescription, self.code, self.main) = (name, code, main)
        }
    }

    @Test(arguments: [
        BadProgram("crash", .planFailed, "fatalError(\"on purpose\")"),
        BadProgram("exit 3", .planFailed, "exit(3)"),
        BadProgram("no answer", .badAnswer, ""),
        BadProgram("not JSON", .badAnswer, "try \"{\".write(toFile: output, atomically: true, encoding: .utf8)"),
        BadProgram(
            "deep JSON", .badAnswer,
            "try String(repeating: \"[\", count: 1_000_000).write(toFile: output, atomically: true, encoding: .utf8)"),
        BadProgram("too much", .badAnswer, "try Data(count: 20 << 20).write(to: URL(fileURLWithPath: output))"),
        BadProgram("a pipe", .badAnswer, "mkfifo(output, 0o600)"),
        BadProgram("a link", .badAnswer, "symlink(\"/etc/passwd\", output)"),
        BadProgram("a folder", .badAnswer, "mkdir(output, 0o700)"),
        BadProgram("endless output", .planTimedOut, "while true { print(String(repeating: \"x\", count: 4096)) }"),
        BadProgram("hanging", .planTimedOut, "signal(SIGTERM, SIG_IGN); while true { sleep(100) }"),
        BadProgram(
            "another workflow", .badAnswer,
            #"try "{\"formatVersion\":\#(Plan.formatVersion),\"workflow\":\"other\",\"failFast\":false,\"limits\":{},\"steps\":[]}".write(toFile: output, atomically: true, encoding: .utf8)"#
        ),
        BadProgram(
            "another format", .badAnswer,
            #"try "{\"formatVersion\":99,\"workflow\":\"test\",\"failFast\":false,\"limits\":{},\"steps\":[]}".write(toFile: output, atomically: true, encoding: .utf8)"#
        ),
        BadProgram(
            "an empty plan", .invalid,
            #"try "{\"formatVersion\":\#(Plan.formatVersion),\"workflow\":\"test\",\"failFast\":false,\"limits\":{},\"steps\":[]}".write(toFile: output, atomically: true, encoding: .utf8)"#
        ),
    ])
    func aBadAnswerIsADefinitionError(bad: BadProgram) async throws {
        let limits = ProgramLimits(plan: bad.code == .planTimedOut ? .seconds(2) : .seconds(30))
        let cache = try await room.cache(limits: limits)
        let program = try await cache.program(for: .program(bad.main))
        let error = await #expect(throws: DefinitionError.self) {
            try await program.plan(workflow: "test", context: .example)
        }
        #expect(error?.code == bad.code)
        #expect((error?.output.utf8.count ?? 0) < 2 << 20)
    }

    // MARK: - Context

    @Test func `a workflow that reads the context is planned for each run`() async throws {
        let program = try await room.cache().program(
            for: .files([
                "workflows/w.swift": """
                import Pipeline
                let loud = Parameter("loud", default: false)
                let count = Parameter<Int>("count")
                let test = Workflow("test", on: .pullRequest(into: "main"), parameters: [loud, count]) { context in
                    if context.changes("Sources/**") { Step("code", run: "make test") } else { Step("docs", run: "make docs") }
                    for number in 0..<context[count] { Step("part \\(number)", run: "echo \\(number)") }
                    if context[loud] { Step("loud", run: "say done") }
                }
                @main struct W: WorkflowSet { static let workflows = [test] }
                """
            ]))
        var context = PlanContext.example
        context.changedFiles = [ChangedFile(status: .modified, path: "Sources/a.swift")]
        context.parameters = ["count": "2", "loud": "yes"]
        var plan = try await program.plan(workflow: "test", context: context)
        #expect(plan.steps.map(\.name) == ["code", "part 0", "part 1", "loud"])
        context.changedFiles = [ChangedFile(status: .modified, path: "README.md")]
        context.parameters = ["count": "0"]
        plan = try await program.plan(workflow: "test", context: context)
        #expect(plan.steps.map(\.name) == ["docs"])
    }

    @Test func `the program sees no secret of the daemon`() async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["PIPECTL_TEST_TOKEN"] = "hunter2"
        let cache = ProgramCache(
            directory: room.programs, library: try PipelineLibrary.find(), toolchain: try await Toolchain.find(),
            modules: Products.moduleCache, environment: environment)
        let program = try await cache.program(
            for: .program("print(ProcessInfo.processInfo.environment.keys.sorted().joined(separator: \" \")); exit(1)"))
        let error = await #expect(throws: DefinitionError.self) {
            try await program.plan(workflow: "test", context: .example)
        }
        #expect(error?.output.contains("PATH") == true)
        #expect(error?.output.contains("TOKEN") == false)
    }

    // MARK: - The seam for a sandbox

    @Test func `every start goes through the sandbox`() async throws {
        let log = "\(room.path)/launches"
        let cache = try await room.cache(
            programSandbox: ProgramSandbox { launch in
                ["/bin/sh", "-c", "echo \(launch.purpose.rawValue) >> \(log); exec \"$@\"", "confined"] + launch.command
            })
        let program = try await cache.program(for: good)
        _ = try await program.plan(workflow: "test", context: .example)
        #expect(room.text("launches") == "compile\ndescribe\nplan\n")
    }
}
