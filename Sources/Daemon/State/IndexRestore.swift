import Workspaces
public import StateFiles
import Store
import Archive
import Concurrency
import Delivery
public import Foundation

/// Restores the daemon's copy of the index, for `pipectl archive restore`, with the state locked.
public struct IndexRestore: Sendable {
    /// The path to which the earlier index was moved; nil if there was none.
    public var kept: String?
    /// When the copy was made.
    public var date: Date
    /// The number of runs that the copy did not have.
    public var added: Int
    /// The number of runs that had not ended in the copy but have in the archive.
    public var finished: Int
    /// The number of releases that the copy did not have.
    public var releases: Int

    /// Restores the copy. Throws `ArchiveError`; the index is then unchanged. Any other error is of what is added to it.
    public static func run(_ folder: StateFolder) async throws -> IndexRestore {
        let before = Set(damaged(folder))
        let date = try await offThread { try Store.Index.restoreBackup(path: folder.index) }
        let index = try Store.Index(path: folder.index)
        let store = try ArchiveStore(home: folder.path)
        // First the facts of the archive, then the runs about which nothing is known.
        let settled = try await store.settle(index)
        let reindexed = try await store.reindex(into: index)
        try await index.forgetSinceBackup(of: date)
        let releases = try await ReleaseRecords(index, ReleaseFolders(folder.releases)).restoreAll()
        return IndexRestore(
            kept: damaged(folder).first { !before.contains($0) }, date: date, added: settled.added + reindexed.restored,
            finished: settled.finished.count, releases: releases)
    }

    private static func damaged(_ folder: StateFolder) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.contains(".damaged-") && $0.hasSuffix(where: \.isNumber) }.map {
            "\(folder.path)/\($0)"
        }
    }
}

extension String {
    fileprivate func hasSuffix(where isWanted: (Character) -> Bool) -> Bool { last.map(isWanted) ?? false }
}
