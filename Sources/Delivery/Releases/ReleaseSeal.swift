import Concurrency
import Foundation
import Results
import Signing
import Store

/// Ends the time in which a release's notes can be edited: its manifest, which names every file and the notes, is
/// written and signed.
struct ReleaseSeal {
    private let service: DeliveryService
    private let release: ReleaseRecord

    init(_ service: DeliveryService, _ release: ReleaseRecord) {
        self.service = service
        self.release = release
    }

    /// Seals the release if it is a draft. Of several steps that publish it at the same time, one does.
    ///
    /// - Returns: The release as it is now.
    @discardableResult
    func seal(with signers: Signers, say: @Sendable (String) -> Void) async throws -> ReleaseRecord {
        guard release.state == .draft else { return release }
        let keys = signers.keys.map(\.publicKey.id.description)
        if let made = release.keys, made != keys {
            throw DeliveryProblem(
                .conflict,
                "the files of \(release.version) are signed with \(Self.named(made)), and the secrets have "
                    + "\(Self.named(keys)) now: set the secrets as they were until it is published, or raise the version"
            )
        }
        let lock = try await offThread { [service, release] in
            try service.folders.path(of: .release, release.repository)
        }
        return try await DeliveryProblem.alone(with: lock) {
            guard let now = try await service.index.release(release.version, of: release.repository) else {
                return release
            }
            guard now.commit == release.commit else {
                throw DeliveryProblem(
                    .conflict,
                    "version \(now.version) is now the one of commit \(now.commit.prefix(10)), which run \(now.run) made: "
                        + "raise the version")
            }
            return try await seal(now, signers, say)
        }
    }

    private static func named(_ keys: [String]) -> String {
        keys.isEmpty ? "no key" : "key " + keys.joined(separator: " and ")
    }

    private func seal(
        _ release: ReleaseRecord, _ signers: Signers, _ say: @Sendable (String) -> Void
    ) async throws -> ReleaseRecord {
        var release = release
        // Notes that are edited at this moment are taken over: then the manifest is made again.
        for _ in 1...10 {
            guard release.state == .draft else { return release }
            try await write(release, signers)
            let (index, name) = (service.index, release.repository)
            let isSealed = try await index.move(
                release.version, of: name, from: [.draft], to: .sealed, notes: release.notes)
            guard let now = try await index.release(release.version, of: name) else { break }
            release = now
            guard isSealed else { continue }
            try await service.records.keep(release.version, of: name)
            say("sealed: from now on its notes can't be edited")
        }
        throw DeliveryProblem(.conflict, "the notes of \(release.version) are edited all the time: try again")
    }

    private func write(_ release: ReleaseRecord, _ signers: Signers) async throws {
        let folders = service.folders
        let folder = folders.folder(of: release)
        let notes = Data(release.notes.utf8)
        try await offThread { try folders.write(notes, ReleaseManifest.notesName, in: folder) }
        let manifest = ReleaseManifest(
            release, notes: FileDigests(of: notes).sha256Text, keys: signers.keys.map(\.publicKey.id))
        guard !signers.all.isEmpty else { return }
        let signed = try await manifest.signed(by: signers.keys)
        try await offThread { try folders.write(signed, ReleaseManifest.fileName, in: folder) }
    }
}
