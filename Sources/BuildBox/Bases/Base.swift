import Archive
import Engine
import Foundation
import Git

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which runs may begin from a ``Base``: those of the same workflow for the same branch, with the same tools.
struct BaseKey: Sendable, Codable, Hashable {
    var repository: String
    var workflow: String
    /// The protected branch whose code left it.
    var branch: String
    /// The compiler's version and ``BoxImage``: what was built with other tools is built again.
    var tools: String
}

/// The workspace of merged code that passed, with its build products: what later runs begin from.
///
/// Only merged code leaves one. It is never written to again: each run has a layer of its own above it.
struct Base: Sendable, Codable, Hashable {
    var key: BaseKey
    /// The run that left it.
    var run: RunID
    var attempt: Int
    /// The tested commit and its tree, to which the tracked files are equal.
    var commit: String
    var tree: String
    /// Newest first; all but those of this run belong to the bases that it was built on.
    var layers: [Layer]
    /// The index file of the tree, with the times of the files as they are in the layers.
    var index: String
    /// On disk, of this run's own layers.
    var bytes: Int
    var createdAt: Date
    /// When a run of its line of bases last began from nothing.
    var cleanAt: Date

    var folder: String { "\(run)-\(attempt)" }

    /// How workspaces take it; nil when its record is damaged.
    var workspaceBase: WorkspaceBase? {
        OID(hex: tree).map { WorkspaceBase(layers: layers, tree: $0, index: index) }
    }
}

/// The programs of this machine in words that change when they do.
enum BoxImage {
    /// The system's release and the state of its package manager, where it has one of these.
    static var words: String {
        let stamps = ["/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed"].compactMap { path in
            var info = stat()
            guard stat(path, &info) == 0 else { return nil as String? }
            #if canImport(Darwin)
                let time = info.st_mtimespec
            #else
                let time = info.st_mtim
            #endif
            return "\(path) \(info.st_size) bytes of \(time.tv_sec)"
        }
        return ([ProcessInfo.processInfo.operatingSystemVersionString] + stamps).joined(separator: ", ")
    }
}
