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
            var destinations: [String: String] = [:]
            for step in release.publications.map(\.step) {
                destinations[step] = try await index.publishingNote(
                    ReleaseFollowing.destination, of: step, version: version, in: repository)
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let bytes = try encoder.encode(KeptRelease(record: release, destinations: destinations))
            try await offThread {
                try DeliveryProblem.machine("writing \(file)") { try DurableFiles.write(bytes, to: file) }
            }
        }
    }

    /// Removes the record of a draft that another release replaces.
    func forget(_ draft: ReleaseRecord) async throws {
        let lock = try await offThread { [folders] in try folders.path(of: .record, draft.repository) }
        let file = path(draft.version, draft.commit, draft.repository)
        try await DeliveryProblem.alone(with: lock) {
            try await offThread { try ReleaseFolders.remove(file) }
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
        guard let kept = try await offThread({ Self.read(path) }), kept.record.repository == repository else {
            return nil
        }
        return try await restore(kept)
    }

    /// Tells the index of all releases that it does not know, or knows in an older state.
    ///
    /// - Returns: How many it did not know.
    package func restoreAll() async throws -> Int {
        let kept = try await offThread { [folders] in
            try folders.records().compactMap(Self.read).sorted {
                ($0.record.madeAt, $0.record.run) < ($1.record.madeAt, $1.record.run)
            }
        }
        // What is signed names the runs, so no new one gets their numbers.
        if let last = kept.map(\.record.run).max() { try await index.reserve(through: last) }
        var added = 0
        for one in kept {
            let isNew = try await index.release(one.record.version, of: one.record.repository) == nil
            if try await restore(one) != nil, isNew { added += 1 }
        }
        return added
    }

    private func path(_ version: String, _ commit: String, _ repository: String) -> String {
        folders.folder(of: version, commit: commit, repository: repository) + ReleaseFolders.recordSuffix
    }

    private static func read(_ path: String) -> KeptRelease? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(KeptRelease.self, from: $0) }
    }

    /// - Returns: The release as the index knows it now; nil if it does not know the repository.
    private func restore(_ file: KeptRelease) async throws -> ReleaseRecord? {
        let kept = file.record
        let (version, name) = (kept.version, kept.repository)
        // The index may know the draft that the release has replaced.
        let there = try await index.release(version, of: name)
        let draft = there.flatMap { $0.isUnseen && $0.madeAt < kept.madeAt && $0.commit != kept.commit ? $0 : nil }
        guard let known = try await index.addRelease(kept, replacing: draft?.commit), known.commit == kept.commit else {
            return nil
        }
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
        for (step, destination) in file.destinations {
            try await index.setPublishingNote(
                ReleaseFollowing.destination, to: destination, of: step, version: version, in: name)
        }
        return try await index.release(version, of: name)
    }
}

/// What the file beside a release's folder has: the fields of the record, and those below.
private struct KeptRelease: Sendable, Codable {
    var record: ReleaseRecord
    /// By the name of the step that publishes, what is needed to ask the destination later. Earlier versions of pipectl
    /// wrote none.
    var destinations: [String: String]

    private enum Key: CodingKey { case destinations }

    init(record: ReleaseRecord, destinations: [String: String]) {
        (self.record, self.destinations) = (record, destinations)
    }

    init(from decoder: any Decoder) throws {
        record = try ReleaseRecord(from: decoder)
        let fields = try decoder.container(keyedBy: Key.self)
        destinations = try fields.decodeIfPresent([String: String].self, forKey: .destinations) ?? [:]
    }

    func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(destinations, forKey: .destinations)
    }
}
