import TestBasics
import Foundation
import Pipeline

/// A workflow that is really compiled, in a folder of its own. It is a simple form of what the engine does.
struct CompiledWorkflow {
    private let room: TemporaryFolder
    private let build: String

    var folder: String { room.path }

    init() throws {
        room = try TemporaryFolder(.disk)
        build = try CompiledWorkflow.buildFolder()
        for name in ["workspace", "in", "out", "workflows"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        var context = PlanContext(
            repository: "r", event: .manual, commit: "0123", ref: "refs/heads/main", branch: "main")
        context.parameters = ["count": "3"]
        try JSONEncoder().encode(context).write(to: URL(fileURLWithPath: "\(folder)/context.json"))
    }

    /// The folder with the module and the dynamic library, on or above that of the test binary.
    private static func buildFolder() throws -> String {
        var path = Products.folder
        while path.count > 1 {
            if FileManager.default.fileExists(atPath: "\(path)/Modules/Pipeline.swiftmodule") { return path }
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Compiles `text` as `workflows/test.swift`.
    func compile(_ text: String, typecheckOnly: Bool = false) async throws -> Ended {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/workflows/test.swift"))
        let modules = Products.moduleCache
        let link = ["-L", build, "-lPipeline", "-Xlinker", "-rpath", "-Xlinker", build, "-o", "program"]
        return try await run(
            ["swiftc", "-swift-version", "6", "-parse-as-library", "-module-name", "workflows"]
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
        var runner = CommandRunner(
            in: directory, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        runner.limit = .seconds(300)
        // One stream, in the order in which it was written.
        return try await runner.end(of: ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + command)
    }
}
