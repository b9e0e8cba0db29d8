import Foundation
import TestBasics

@testable import Signing

/// A folder with a whole release, made as a build box makes it, for a test to change.
struct TestRelease: Sendable {
    let folder: TemporaryFolder
    var version = "1.2.0"
    var commit = String(repeating: "c", count: 40)
    var repository = "https://git.example.com/team/tool"
    /// For minisign's form, the provenance and the list.
    var key: PrivateKey
    /// For cosign's form.
    var blobKey: PrivateKey

    static let app = "tool-linux.tar.gz"
    static let other = "tool-macos.tar.gz"

    /// - Parameter prefix: What the files begin with, so that two releases differ.
    static func make(
        version: String = "1.2.0", commit: String = String(repeating: "c", count: 40),
        repository: String = "https://git.example.com/team/tool",
        key: PrivateKey = PrivateKey(new: .ed25519), blobKey: PrivateKey = PrivateKey(new: .p256)
    ) async throws -> TestRelease {
        let release = TestRelease(
            folder: try TemporaryFolder(), version: version, commit: commit, repository: repository, key: key,
            blobKey: blobKey)
        for name in [app, other] { try release.folder.write(name, "\(name) \(version) \(commit)".utf8) }
        try release.folder.write(ReleaseManifest.notesName, "# \(version)\n\nNotes of \(commit).\n".utf8)
        try await release.sign()
        return release
    }

    /// Writes all side files for what is in the folder.
    func sign(keyForList: PrivateKey? = nil) async throws {
        let files = try [Self.app, Self.other].map { ReleaseManifest.File(name: $0, try digests($0)) }
        try folder.write(Checksums.fileName, Checksums(files).text.utf8)
        for file in files {
            try await signFile(file.name)
            let signature = try await BlobSignature(of: digests(file.name), by: blobKey)
            try folder.write(file.name + ".sig", signature.line.utf8)
            try folder.write(
                file.name + ".sigstore.json", signature.bundle(of: digests(file.name), key: blobKey.publicKey))
        }
        let statement = try await provenance(of: files).signed(by: key)
        try folder.write("provenance.intoto.jsonl", Envelope.file([statement]))
        try await writeList(signers: [keyForList ?? key])
    }

    /// - Parameter id: Of a further key, for the name of its file.
    func signFile(
        _ name: String, as signed: String? = nil, by key: PrivateKey? = nil, id: KeyID? = nil, version: String? = nil
    ) async throws {
        let comment = TrustedComment(
            file: signed ?? name, version: version ?? self.version, commit: commit, repository: repository)
        let signature = try await MinisignSignature(
            of: digests(name), trustedComment: comment.text(madeAt: Date(timeIntervalSince1970: 1_700_000_000)),
            by: key ?? self.key)
        try folder.write(SignatureFile.name(of: name, SignatureFile.minisign, by: id), signature.text.utf8)
    }

    func provenance(of files: [ReleaseManifest.File], commit: String? = nil) -> Provenance {
        Provenance(
            of: files.map { .init(name: $0.name, sha256: $0.sha256) },
            parameters: .init(repository: repository, ref: "refs/heads/main", workflow: "release", version: version),
            commit: .init(uri: "git+\(repository)@refs/heads/main", digest: ["gitCommit": commit ?? self.commit]),
            builder: .init(id: "https://ci.example.com/box"),
            metadata: .init(
                invocationId: "7", startedOn: Date(timeIntervalSince1970: 1), finishedOn: Date(timeIntervalSince1970: 2)
            ))
    }

    static func manifest(
        files: [ReleaseManifest.File], version: String = "1.2.0", commit: String = String(repeating: "c", count: 40),
        repository: String = "https://git.example.com/team/tool", notes: String? = nil, keys: [KeyID] = []
    ) -> ReleaseManifest {
        ReleaseManifest(
            repository: repository, version: version, buildNumber: 12, tag: "v\(version)", commit: commit,
            tree: String(repeating: "d", count: 40), madeAt: Date(timeIntervalSince1970: 1_700_000_000),
            workflow: "release", runID: "7", files: files, notesSHA256: notes, keyIDs: keys)
    }

    /// The list of the release, from the files in the folder.
    func list() throws -> ReleaseManifest {
        Self.manifest(
            files: try [Self.app, Self.other].map { ReleaseManifest.File(name: $0, try digests($0)) }, version: version,
            commit: commit, repository: repository, notes: try digests(ReleaseManifest.notesName).sha256Text,
            keys: [key.publicKey.id, blobKey.publicKey.id])
    }

    func writeList(signers: [PrivateKey]) async throws {
        try folder.write(ReleaseManifest.fileName, await list().signed(by: signers))
    }

    func digests(_ name: String) throws -> FileDigests {
        FileDigests(of: try Data(contentsOf: URL(fileURLWithPath: folder[name])))
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: folder[name], encoding: .utf8) }

    func remove(_ names: String...) throws {
        for name in names { try FileManager.default.removeItem(atPath: folder[name]) }
    }

    /// Removes every side file of the first file but the ones that are named.
    func keepOnly(_ names: String...) throws {
        let sides =
            [".minisig", ".sig", ".sigstore.json"].map { Self.app + $0 }
            + ["provenance.intoto.jsonl", Checksums.fileName, ReleaseManifest.fileName]
        for name in sides where !names.contains(name) { try FileManager.default.removeItem(atPath: folder[name]) }
    }

    /// Replaces text in a file.
    func edit(_ name: String, _ old: String, _ new: String) throws {
        let text = try text(name)
        guard text.contains(old) else { throw CocoaError(.fileReadCorruptFile) }
        try folder.write(name, text.replacing(old, with: new).utf8)
    }

    var trusted: TrustedKeys { TrustedKeys([key.publicKey, blobKey.publicKey]) }
}
