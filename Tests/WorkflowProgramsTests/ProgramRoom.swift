import TestBasics
import WorkflowPrograms
import Foundation
import Pipeline
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A folder of its own for one test, with a cache of compiled workflows in it.
struct ProgramRoom: Sendable {
    /// The room of the running test.
    @TaskLocal static var current = ProgramRoom(path: "/nonexistent")

    let path: String

    var programs: String { "\(path)/programs" }

    func cache(
        swiftc: String? = nil, library: PipelineLibrary? = nil, programSandbox: ProgramSandbox = .none,
        limits: ProgramLimits = ProgramLimits()
    ) async throws -> ProgramCache {
        var environment = ProcessInfo.processInfo.environment
        environment["PIPECTL_SWIFTC"] = swiftc
        return ProgramCache(
            directory: programs, library: try library ?? PipelineLibrary.find(),
            toolchain: try await Toolchain.find(environment: environment), programSandbox: programSandbox,
            limits: limits,
            modules: Products.moduleCache)
    }

    /// Writes a shell script and returns its path.
    func script(_ name: String, _ text: String) throws -> String {
        try file(name, "#!/bin/sh\n\(text)\n", executable: true)
    }

    /// The real compiler, which also adds a line to `compiled` each time it compiles.
    func countingCompiler() async throws -> String {
        let real = try await Toolchain.find().swiftc
        return try script(
            "swiftc",
            "case \"$*\" in *-print-target-info*) ;; *) echo x >> \(path)/compiled;; esac\nexec \(real) \"$@\"")
    }

    var compilations: Int { text("compiled")?.split(separator: "\n").count ?? 0 }

    @discardableResult
    func file(_ name: String, _ text: String, executable: Bool = false) throws -> String {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path, withIntermediateDirectories: true)
        guard executable else {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
        // Another process writes it: a process that a test has just forked could hold it open for writing, and then it
        // can't be started (ETXTBSY, execve(2)).
        try Data(text.utf8).write(to: URL(fileURLWithPath: file + ".text"))
        guard succeeds(["cp", file + ".text", file]), chmod(file, 0o755) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        return file
    }

    func text(_ name: String) -> String? { try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
}

/// Provides a test's ``ProgramRoom`` and removes it afterwards.
struct ProgramRoomTrait: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTemporaryFolder(.disk) { path in
            try await ProgramRoom.$current.withValue(ProgramRoom(path: path)) { try await function() }
        }
    }
}

extension Trait where Self == ProgramRoomTrait {
    static var programRoom: Self { ProgramRoomTrait() }
}

extension WorkflowSources {
    /// Sources from texts; the tree's id is computed as Git does.
    static func files(_ files: [String: String]) -> WorkflowSources {
        let sorted = files.sorted { $0.key < $1.key }
        var tree: UInt64 = 14_695_981_039_346_656_037
        for byte in sorted.flatMap({ Array("\($0.key)\0\($0.value)\0".utf8) }) {
            tree = (tree ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return WorkflowSources(
            tree: String(tree, radix: 16), files: sorted.map { WorkflowFile(path: $0.key, bytes: Array($0.value.utf8)) }
        )
    }

    /// One file with a workflow "test" of these steps.
    static func steps(_ steps: String, before: String = "") -> WorkflowSources {
        .files([
            "workflows/test.swift": """
            import Pipeline
            \(before)
            let test = Workflow("test", on: .pullRequest(into: "main")) {
            \(steps)
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }
            """
        ])
    }

    /// A program with arbitrary behaviour.
    static func program(_ main: String) -> WorkflowSources {
        .files([
            "workflows/main-program.swift": """
            import Foundation
            @main struct Hostile {
                static func main() throws {
                    let arguments = CommandLine.arguments
                    let output = arguments[arguments.count - 1]
                    let description = #"{"formatVersion":\(Plan.formatVersion),"workflows":[{"failFast":false,"limits":{},"name":"test","parameters":[],"readsContext":true,"retestsStaleChanges":false,"triggers":[]}]}"#
                    if arguments[1] == "describe" { try description.write(toFile: output, atomically: true, encoding: .utf8); return }
                    \(main)
                }
            }
            """
        ])
    }
}

extension PlanContext {
    static let example = PlanContext(
        repository: "example", event: .pullRequest, commit: String(repeating: "1", count: 40), ref: "refs/pull/1/head",
        branch: "main")
}
