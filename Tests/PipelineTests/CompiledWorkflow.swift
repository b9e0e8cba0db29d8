import Foundation
import Pipeline

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A workflow that is really compiled, in a folder of its own. It is a simple form of what the engine does.
struct CompiledWorkflow {
    let folder: String
    private let build: String

    /// The output of a process (both streams) and its exit code.
    struct Ended {
        var code: Int32
        var output: String
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/pipeline-test-\(UUID().uuidString)"
        build = try CompiledWorkflow.buildFolder()
        for name in ["workspace", "in", "out", "workflows"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        var context = PlanContext(
            repository: "r", event: .manual, commit: "0123", ref: "refs/heads/main", branch: "main")
        context.parameters = ["count": "3"]
        try JSONEncoder().encode(context).write(to: URL(fileURLWithPath: "\(folder)/context.json"))
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// The folder of the test binary, where SwiftPM also puts the module and the dynamic library.
    private static func buildFolder() throws -> String {
        #if canImport(Darwin)
            var path =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? CommandLine.arguments[0]
        #else
            var path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #endif
        while path.count > 1 {
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
            if FileManager.default.fileExists(atPath: "\(path)/Modules/Pipeline.swiftmodule") { return path }
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Compiles `text` as `workflows/test.swift`.
    func compile(_ text: String, typecheckOnly: Bool = false) async throws -> Ended {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/workflows/test.swift"))
        let modules = FileManager.default.temporaryDirectory.path + "/pipectl-tests-modules"
        let link = ["-L", build, "-lPipeline", "-Xlinker", "-rpath", "-Xlinker", build, "-o", "program"]
        return try await run(
            ["/usr/bin/env", "swiftc", "-swift-version", "6", "-parse-as-library", "-module-name", "workflows"]
                + ["-module-cache-path", modules, "-I", "\(build)/Modules", "workflows/test.swift"]
                + (typecheckOnly ? ["-typecheck"] : link),
            in: folder)
    }

    /// Makes a request to the program.
    func ask(_ request: ProgramRequest, _ options: String...) async throws -> Ended {
        try await run(["\(folder)/program", request.rawValue] + options, in: folder)
    }

    /// Runs a closure step as the engine does.
    func step(_ name: String, attempt: Int = 1) async throws -> Ended {
        try await run(
            ["\(folder)/program", "step", "--workflow", "test", "--step", name, "--context", "\(folder)/context.json"],
            in: "\(folder)/workspace",
            environment: [
                StepVariable.workspace: "\(folder)/workspace", StepVariable.attempt: String(attempt),
                StepVariable.valuesIn: "\(folder)/in", StepVariable.valuesOut: "\(folder)/out",
            ])
    }

    func run(_ command: [String], in directory: String, environment: [String: String] = [:]) async throws -> Ended {
        let log = "\(folder)/log-\(UUID().uuidString)"
        try Data().write(to: URL(fileURLWithPath: log))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        defer { try? file.close() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = file
        process.standardError = file
        let code: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Ended(code: code, output: try String(contentsOfFile: log, encoding: .utf8))
    }
}
