package import Foundation

/// Where a machine keeps snapshots that follow one another: runs of a workflow on a branch of a repository.
package struct SnapshotPlace: Sendable, Codable, Equatable {
    /// The name of the repository's mirror.
    package var repository: String
    /// Names the workflow and the branch.
    package var line: String

    package init(repository: String, line: String) { (self.repository, self.line) = (repository, line) }
}

/// The snapshots of a ``SnapshotPlace``.
package struct KeptSnapshots: Sendable, Codable {
    /// Why the machine can have none, as a sentence; nil if it can.
    package var obstacle: String?
    /// The compiler and the packages of the machine: a snapshot that was made with others is not used.
    package var tools: String
    package var snapshots: [Info]

    /// A snapshot.
    package struct Info: Sendable, Codable {
        package var name: String
        /// What the daemon noted when it was made.
        package var note: Data
        /// How many layers it has, with those of the snapshots that it was built on.
        package var layers: Int
        /// The bytes on disk of all these.
        package var bytes: Int

        package init(name: String, note: Data, layers: Int, bytes: Int) {
            (self.name, self.note, self.layers, self.bytes) = (name, note, layers, bytes)
        }
    }

    package init(obstacle: String? = nil, tools: String, snapshots: [Info]) {
        (self.obstacle, self.tools, self.snapshots) = (obstacle, tools, snapshots)
    }
}

/// What a workspace has to do with snapshots.
package struct SnapshotUseOrder: Sendable, Codable {
    package var place: SnapshotPlace
    /// The snapshot to start from; nil to start fresh.
    package var name: String?
    /// Whether the workspace may become a snapshot.
    package var isKept: Bool
    /// Snapshots that are of no use any more.
    package var unwanted: [String]

    package init(place: SnapshotPlace, name: String?, isKept: Bool, unwanted: [String]) {
        (self.place, self.name, self.isKept, self.unwanted) = (place, name, isKept, unwanted)
    }
}

/// A workspace was made.
package struct MadeWorkspace: Sendable, Codable {
    /// Whether it lies over the snapshot that was asked for.
    package var isWarm: Bool
    /// Why it does not; nil if it does, or if none was asked for.
    package var problem: String?
    /// The compiler and the packages of the machine: with others, steps may come to something else.
    package var tools: String

    package init(isWarm: Bool, problem: String? = nil, tools: String) {
        (self.isWarm, self.problem, self.tools) = (isWarm, problem, tools)
    }
}

/// A workspace is to become a snapshot.
package struct KeepOrder: Sendable, Codable {
    /// What the daemon wants to know of it later; the machine only stores it.
    package var note: Data
    /// Patterns of files that steps leave for the report.
    package var results: [String]
    /// The bytes on disk that all snapshots of the machine may take.
    package var limit: Int

    package init(note: Data, results: [String], limit: Int) {
        (self.note, self.results, self.limit) = (note, results, limit)
    }

    /// The most bytes of ``note``.
    package static let mostBytes = 1 << 16
}

/// A snapshot was kept.
package struct KeptSnapshot: Sendable, Codable {
    /// On disk, without the layers that it was built on.
    package var bytes: Int

    package init(bytes: Int) { self.bytes = bytes }
}
