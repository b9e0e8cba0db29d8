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

/// Which runs may begin from a ``Snapshot``: those of the same workflow for the same branch, with the same tools.
package struct SnapshotKey: Sendable, Codable, Hashable {
    package var repository: String
    package var workflow: String
    /// The protected branch whose code left it.
    package var branch: String
    /// The id of the tree of `workflows/`: what was built by another definition, with other flags say, is built again.
    var definition: String
    /// The compiler's version and ``MachineImage``: the same for other tools.
    package var tools: String

    /// Whether it is for the same runs, whatever they are built by and with.
    func isOfSameLine(as other: SnapshotKey) -> Bool {
        repository == other.repository && workflow == other.workflow && branch == other.branch
    }
}

/// The workspace of merged code that passed, with its build products: what later runs begin from.
///
/// Only merged code leaves one. It is never written to again: each run has a layer of its own above it.
package struct Snapshot: Sendable, Codable, Hashable {
    package var key: SnapshotKey
    /// A digest of the steps that built it, see ``Plan/snapshotDigest``; nil where those hold Swift code.
    var plan: String?
    /// The name of its folder.
    package var folder: String
    /// The run that left it.
    package var run: RunID
    /// The tested commit and its tree, to which the tracked files are equal.
    package var commit: String
    var tree: String
    /// Newest first; all but those of this run belong to the bases that it was built on.
    var layers: [Layer]
    /// The index file of the tree, with the times of the files as they are in the layers.
    var index: String
    /// On disk, of this run's own layers.
    var bytes: Int
    var createdAt: Date
    /// When a run of its line of bases last began from nothing.
    package var cleanAt: Date
    /// Whether its own run did.
    package var isClean: Bool
    /// The start of the system in which it was made; nil once it is known to be on the disk.
    ///
    /// Nothing is flushed while a run goes on. After a power cut files may be empty and have their right times, which no
    /// build would notice.
    var boot: String?

    /// Whether a run with these steps may begin from it: the definition is the same, or it was edited in a way that left
    /// every step as it was.
    func serves(_ key: SnapshotKey, plan: String?) -> Bool {
        if self.key == key { return true }
        return plan != nil && self.plan == plan && self.key.isOfSameLine(as: key) && self.key.tools == key.tools
    }

    /// How workspaces take it; nil when its record is damaged.
    var workspaceBase: WorkspaceSource? {
        OID(hex: tree).map { WorkspaceSource(layers: layers, tree: $0, index: index) }
    }
}

extension stat {
    /// When the content was changed last.
    var modifiedTime: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }

    /// When anything about the file was changed last: name, mode or content.
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

/// The programs of this machine in words that change when they do.
package enum MachineImage {
    /// The system's release and the state of its package manager, where it has one of these.
    package static var words: String {
        let stamps = ["/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed"].compactMap { path in
            var info = stat()
            guard stat(path, &info) == 0 else { return nil as String? }
            return "\(path) \(info.st_size) bytes of \(info.modifiedTime.tv_sec)"
        }
        return ([system] + stamps).joined(separator: ", ")
    }

    /// Read once: a release that comes while the box runs shows in the package manager's files.
    private static let system = ProcessInfo.processInfo.operatingSystemVersionString
}

extension ProgramCache {
    /// What a base was built with; first by which way of writing files, so that one of another way is none any more.
    package var tools: String { "2 \(toolchain.version) \(toolchain.fileWords) \(MachineImage.words)" }
}
