import Concurrency
import Foundation
package import Git
package import Pipeline
import Sandbox
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a passed run's workspace leaves for later ones to start from.
package struct SealedLayers: Sendable {
    /// Newest first. Those of the workspace itself are in the folder that they were moved to; the others stay where they
    /// were.
    package var layers: [Layer]
    /// The Git index of the tree, with the times that the files have in the layers.
    package var index: String
    /// Bytes on disk of the folder.
    package var bytes: Int
}

extension Workspace {
    /// Seals what the run wrote, and moves it with the index to a folder.
    ///
    /// Only after ``close()``, and once: the workspace is of no use afterwards.
    ///
    /// - Parameters:
    ///   - place: A folder of our own on the same file system.
    ///   - tree: The tree of the tested commit, which `store` has.
    ///   - results: The files that steps leave for the report.
    /// - Throws: ``LayerSealing/Obstacle``; ``FolderTooDeep``; errors of Git and of the disk. The folder may have some of
    ///   the files then.
    /// - Returns: Nil for a plain folder.
    package func seal(
        into place: String, tree: OID, store: String, results: [Glob]
    ) async throws -> SealedLayers? {
        guard let upper, let index else { return nil }
        let sealing = LayerSealing(layer: upper, lower: layers, results: results)
        let restored = try await withRepository(at: store) { try sealing.seal(tree: tree, in: $0) }
        return try await offThread {
            var sealed = SealedLayers(layers: [], index: "\(place)/index", bytes: 0)
            if restored.isEmpty {
                try FileManager.default.moveItem(atPath: index, toPath: sealed.index)
            } else {
                try Repository.writeIndex(patching: index, with: restored, to: sealed.index)
            }
            sealed.layers = [try upper.moved(to: "\(place)/written")]
            // The layers of the snapshot below stay where they are.
            sealed.layers += try layers.map { layer in
                layer.path.hasPrefix(folder + "/") ? try layer.moved(to: "\(place)/tree") : layer
            }
            sealed.bytes = WorkspaceMeter.size(of: place)
            guard sealed.bytes < WorkspaceMeter.uncounted else { throw FolderTooDeep() }
            return sealed
        }
    }
}

extension Layer {
    fileprivate func moved(to target: String) throws -> Layer {
        guard rename(path, target) == 0 else { throw SystemFailure("rename") }
        return Layer(path: target, owner: owner, group: group)
    }
}

/// A step made folders that are nested deeper than any that are walked, so nobody can tell how much room they take.
package struct FolderTooDeep: Error, CustomStringConvertible {
    package var description: String { "its folders are nested too deep to be measured" }

    package init() {}
}

extension Plan {
    /// The files that its steps leave for the report: the next run must make its own.
    package var resultPatterns: [String] {
        let results = steps.flatMap(\.testResults).compactMap { source in
            switch source {
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern): pattern
            case .swiftPMConsole: nil
            }
        }
        return results + steps.flatMap(\.artifacts)
    }
}
