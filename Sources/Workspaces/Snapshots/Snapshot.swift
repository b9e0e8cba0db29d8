package import WorkflowPrograms
import Engine
package import Results
package import Foundation
import Git

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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

    /// Whether both are for the same workflow and branch, with whatever definition and tools.
    func isOfSameLine(as other: SnapshotKey) -> Bool {
        repository == other.repository && workflow == other.workflow && branch == other.branch
    }
}

/// The finished workspace of a passed run of merged code, with its build products. Later runs start from it.
///
/// It is never written to again: each run writes to a layer of its own above it.
package struct Snapshot: Sendable, Codable, Hashable {
    /// Which runs may start from it.
    package var key: SnapshotKey
    /// A digest of the steps that built it, see ``Plan/snapshotDigest``; nil if one of them is Swift code.
    var plan: String?
    /// The name of its folder.
    package var folder: String
    /// The run that left it.
    package var run: RunID
    /// The tested commit and its tree. The tracked files are equal to those of the tree.
    package var commit: String
    var tree: String
    /// Newest first. All but those of its own run belong to the snapshots that this one was built on.
    var layers: [Layer]
    /// The Git index of the tree, with the times that the files have in the layers.
    var index: String
    /// Bytes on disk of its own run's layers.
    var bytes: Int
    var createdAt: Date
    /// When a run in the chain of snapshots that it was built on last started in a fresh workspace.
    package var cleanAt: Date
    /// Whether its own run started in a fresh workspace.
    package var isClean: Bool
    /// The start of the system in which it was made; nil once it is known to be on the disk.
    ///
    /// Nothing is flushed while a run is under way. After a power cut files may be empty and still have their right
    /// times, which no build would notice.
    var boot: String?

    /// Whether a run with these steps may start from it: the definition is the same, or was edited without a change to
    /// any step.
    func serves(_ key: SnapshotKey, plan: String?) -> Bool {
        if self.key == key { return true }
        return plan != nil && self.plan == plan && self.key.isOfSameLine(as: key) && self.key.tools == key.tools
    }

    /// Its layers as a workspace needs them; nil if its record is damaged.
    var workspaceBase: WorkspaceSource? {
        OID(hex: tree).map { WorkspaceSource(layers: layers, tree: $0, index: index) }
    }
}

extension stat {
    /// When the content last changed.
    var modifiedTime: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }

    /// When the name, the mode or the content last changed.
    var changedTime: timespec {
        #if canImport(Darwin)
            st_ctimespec
        #else
            st_ctim
        #endif
    }
}

extension timespec {
    static func == (one: timespec, other: timespec) -> Bool {
        (one.tv_sec, one.tv_nsec) == (other.tv_sec, other.tv_nsec)
    }

    static func < (one: timespec, other: timespec) -> Bool {
        (one.tv_sec, one.tv_nsec) < (other.tv_sec, other.tv_nsec)
    }
}

/// The programs of this machine, as a text that changes when one of them does.
package enum MachineImage {
    /// The release of the system and the state of its package manager.
    package static var words: String {
        let stamps = ["/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed"].compactMap { path in
            var info = stat()
            guard stat(path, &info) == 0 else { return nil as String? }
            return "\(path) \(info.st_size) bytes of \(info.modifiedTime.tv_sec)"
        }
        return ([system] + stamps).joined(separator: ", ")
    }

    /// Read once: an upgrade while the daemon runs shows in the package manager's files.
    private static let system = ProcessInfo.processInfo.operatingSystemVersionString
}

extension ProgramCache {
    /// The tools that a snapshot was built with. The number in front changes when pipectl writes the files in another
    /// way.
    package var tools: String { "2 \(toolchain.version) \(toolchain.fileWords) \(MachineImage.words)" }
}
