import Layers
import Concurrency
import TerminalText
import Engine
import Foundation
import Git
import Sandbox

extension Workspace {
    /// A workspace that starts where a retained one ended: a layer above it, or a copy where there are no layers.
    ///
    /// - Parameters:
    ///   - folder: The folder for all of it; what is there is removed.
    ///   - user: The user of the steps, who owns what they see.
    static func resume(
        at folder: String, _ retained: RetainedWorkspace, user: StepUser?, layering: Layering?
    ) async throws -> Workspace {
        try? await remove(folder)
        guard let layering else {
            // Without layers every workspace is one plain folder.
            guard let only = retained.layers.first, retained.layers.count == 1 else {
                throw OverlayProblem("its layers can't be mounted any more")
            }
            try await copy(only.path, to: folder)
            return Workspace(plain: folder)
        }
        return try await offThread {
            guard let tree = OID(hex: retained.tree) else { throw OverlayProblem("its record is damaged") }
            let holder = try open(at: folder, owned: [], user: user, layering: layering)
            holder.take(retained.layers)
            try holder.mount()
            let owner = user ?? .daemon
            return Workspace(
                folder: folder, holder: holder, tree: tree, isOverBase: false,
                upper: Layer(path: "\(folder)/upper", owner: owner.user, group: owner.group), layers: retained.layers,
                index: nil, written: [])
        }
    }

    /// Copies what steps wrote and nobody writes to any more. File systems that can share blocks do so.
    ///
    /// - Parameter target: Made if it does not exist; what is in it stays.
    static func copy(_ source: String, to target: String) async throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        #if os(macOS)
            let options = ["-Rpc"]
        #else
            let options = ["-a", "--reflink=auto"]
        #endif
        let result = try await ExternalCommand(
            "cp", options + ["\(source)/.", target], environment: ["PATH": "/usr/bin:/bin"], deadline: .seconds(3_600),
            outputLimit: 1 << 14
        ).run()
        guard result.succeeded else {
            let said = result.text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "nothing"
            throw OverlayProblem("it could not be copied: \(TerminalText.name(said))")
        }
    }
}
