package import WorkflowPrograms
import Engine
package import Results
package import Foundation
import Git
import Layers

/// Which runs may start from a ``Snapshot``: those of the same workflow and branch, with the same tools.
package struct SnapshotKey: Sendable, Codable, Hashable {
    /// The watched repository's name.
    package var repository: String
    /// The workflow's name.
    package var workflow: String
    /// The protected branch whose code it was built from.
    package var branch: String
    /// The id of the tree of `workflows/`: another definition may build with other flags.
    var definition: String
    /// The compiler's version and ``MachineImage/words``.
    package var tools: String

    /// The workflow and the branch, with whatever definition and tools.
    package var line: SnapshotLine { SnapshotLine(repository: repository, workflow: workflow, branch: branch) }

    /// Whether both are for the same workflow and branch.
    func isOfSameLine(as other: SnapshotKey) -> Bool { line == other.line }
}

/// A workflow of a repository on a protected branch: its snapshots follow one another.
package struct SnapshotLine: Sendable, Codable, Hashable {
    package var repository: String
    package var workflow: String
    package var branch: String

    package init(repository: String, workflow: String, branch: String) {
        (self.repository, self.workflow, self.branch) = (repository, workflow, branch)
    }

    /// Names it where one text is needed.
    package var name: String { "\(repository)/\(workflow)/\(branch)" }
}

/// What is known of a snapshot, on whichever machine it is.
package struct SnapshotFacts: Sendable, Codable, Hashable {
    /// Which runs may start from it.
    package var key: SnapshotKey
    /// A digest of the steps that built it, see ``Plan/snapshotDigest``; nil if one of them is Swift code.
    var plan: String?
    /// The run that left it.
    package var run: RunID
    /// The tested commit and its tree. The tracked files are equal to those of the tree.
    package var commit: String
    var tree: String
    var createdAt: Date
    /// When a run in the chain of snapshots that it was built on last started in a fresh workspace.
    package var cleanAt: Date
    /// Whether its own run started in a fresh workspace.
    package var isClean: Bool

    /// Whether a run with these steps may start from it: the definition is the same, or was edited without a change to
    /// any step.
    func serves(_ key: SnapshotKey, plan: String?) -> Bool {
        if self.key == key { return true }
        return plan != nil && self.plan == plan && self.key.isOfSameLine(as: key) && self.key.tools == key.tools
    }

    /// A build compares times: files that a run writes must be newer than the snapshot, which fails if the clock was
    /// set back.
    var isUsable: Bool { createdAt <= Date() }
}

extension Sequence {
    /// The snapshot with the smallest difference to the run's tree, of those that a run with these steps may start from.
    ///
    /// - Parameter difference: How many entries of another tree differ from those of the run's tree.
    func nearest<One>(
        _ key: SnapshotKey, plan: String?, _ difference: @Sendable (_ tree: OID) async throws -> Int
    ) async -> (snapshot: One, difference: Int)? where Element == (One, SnapshotFacts) {
        var best: (snapshot: One, difference: Int)?
        for (one, facts) in self where facts.serves(key, plan: plan) && facts.isUsable {
            guard let tree = OID(hex: facts.tree), let count = try? await difference(tree) else { continue }
            if count < best?.difference ?? .max { best = (one, count) }
        }
        return best
    }
}

/// The finished workspace of a passed run of merged code, with its build products. Later runs start from it.
///
/// It is never written to again: each run writes to a layer of its own above it.
@dynamicMemberLookup package struct Snapshot: Sendable, Codable, Hashable {
    /// What is known of it wherever it is. Its properties are this type's own, too, also in JSON.
    package var facts: SnapshotFacts
    /// The name of its folder.
    package var folder: String
    /// Newest first. All but those of its own run belong to the snapshots that this one was built on.
    var layers: [Layer]
    /// The Git index of the tree, with the times that the files have in the layers.
    var index: String
    /// Bytes on disk of its own run's layers.
    var bytes: Int
    /// The start of the system in which it was made; nil once it is known to be on the disk.
    ///
    /// Nothing is flushed while a run is under way. After a power cut files may be empty and still have their right
    /// times, which no build would notice.
    var boot: String?

    init(_ facts: SnapshotFacts, folder: String, layers: [Layer], index: String, bytes: Int, boot: String?) {
        (self.facts, self.folder, self.layers) = (facts, folder, layers)
        (self.index, self.bytes, self.boot) = (index, bytes, boot)
    }

    package subscript<Value>(dynamicMember path: KeyPath<SnapshotFacts, Value>) -> Value { facts[keyPath: path] }

    /// Its layers as a workspace needs them; nil if its record is damaged.
    var workspaceBase: WorkspaceSource? {
        OID(hex: facts.tree).map { WorkspaceSource(layers: layers, tree: $0, index: index) }
    }

    private enum CodingKeys: String, CodingKey { case folder, layers, index, bytes, boot }

    package init(from decoder: any Decoder) throws {
        facts = try SnapshotFacts(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        folder = try values.decode(String.self, forKey: .folder)
        layers = try values.decode([Layer].self, forKey: .layers)
        index = try values.decode(String.self, forKey: .index)
        bytes = try values.decode(Int.self, forKey: .bytes)
        boot = try values.decodeIfPresent(String.self, forKey: .boot)
    }

    package func encode(to encoder: any Encoder) throws {
        try facts.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(folder, forKey: .folder)
        try values.encode(layers, forKey: .layers)
        try values.encode(index, forKey: .index)
        try values.encode(bytes, forKey: .bytes)
        try values.encodeIfPresent(boot, forKey: .boot)
    }
}

extension ProgramCache {
    /// The tools that a snapshot was built with.
    package var tools: String {
        "\(MachineImage.form) \(toolchain.version) \(toolchain.fileWords) \(MachineImage.words)"
    }
}
