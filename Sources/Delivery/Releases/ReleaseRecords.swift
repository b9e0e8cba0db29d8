import Concurrency
import Foundation
import Results
package import Store
import SystemPackage

/// The record of each release as a file beside its folder, from which an index that was restored learns which versions
/// were made.
package struct ReleaseRecords: Sendable {
    private let index: Store.Index
    private let folders: ReleaseFolders

    package init(_ index: Store.Index, _ folders: ReleaseFolders) { (self.index, self.folders) = (index, folders) }

    /// Writes what the index knows of a release now.
    package func keep(_ version: String, of repository: String) async throws {
        let lock = try await offThread { [folders] in try folders.path(of: .record, repository) }
        try await DeliveryProblem.alone(with: lock) {
            guard let release = try await index.release(version, of: repository) else { return }
            let file = FilePath(path(release.version, release.commit, repository))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let bytes = try encoder.encode(release)
            try await offThread {
                try DeliveryProblem.machine("writing \(file)") { try DurableFiles.write(bytes, to: file) }
            }
        }
    }

    /// Writes the records that are missing: earlier versions of pipectl wrote none.
    package func keepMissing() async throws {
        for release in try await index.versions(of: nil, limit: 10_000) {
            let path = path(release.version, release.commit, release.repository)
            if !FileManager.default.fileExists(atPath: path) {
                try await keep(release.version, of: release.repository)
            }
        }
    }

    /// A release, also if the index has forgotten it.
    ///
    /// - Parameter commit: Of which it may have been made.
    func release(_ version: String, commit: String, of repository: String) async throws -> ReleaseRecord? {
        if let known = try await index.release(version, of: repository) { return known }
        let path = path(version, commit, repository)
        guard let kept = try await offThread({ Self.read(path) }), kept.repository == repository else { return nil }
        return try await restore(kept)
    }

    /// Tells the index of all releases that it does not know, or knows in an older state.
    ///
    /// - Returns: How many it did not know.
    package func restoreAll() async throws -> Int {
        let kept = try await offThread { [folders] in
            try folders.records().compactMap(Self.read).sorted { ($0.madeAt, $0.run) < ($1.madeAt, $1.run) }
        }
        var added = 0
        for one in kept {
            let isNew = try await index.release(one.version, of: one.repository) == nil
            if try await restore(one) != nil, isNew { added += 1 }
        }
        return added
    }

    private func path(_ version: String, _ commit: String, _ repository: String) -> String {
        folders.folder(of: version, commit: commit, repository: repository) + ReleaseFolders.recordSuffix
    }

    private static func read(_ path: String) -> ReleaseRecord? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(ReleaseRecord.self, from: $0) }
    }

    /// - Returns: The release as the index knows it now; nil if it does not know the repository.
    private func restore(_ kept: ReleaseRecord) async throws -> ReleaseRecord? {
        let (version, name) = (kept.version, kept.repository)
        guard let known = try await index.addRelease(kept), known.commit == kept.commit else { return nil }
        // It only goes forward: the file may be older than the index.
        let states = ReleaseRecord.State.allCases
        let earlier = states.prefix { $0 != kept.state }
        // Of two drafts, a person may have written the file's notes since the index was copied.
        if earlier.contains(known.state) || known.state == .draft && kept.state == .draft {
            _ = try await index.setNotes(kept.notes, of: version, in: name)
        }
        _ = try await index.move(version, of: name, from: earlier + [kept.state], to: kept.state, reason: kept.reason)
        for publication in kept.publications {
            let there = known.publications.first { $0.step == publication.step }
            if let there, there.updatedAt >= publication.updatedAt { continue }
            try await index.record(publication, of: version, in: name)
        }
        return try await index.release(version, of: name)
    }
}
