import Foundation
import TestBasics
import Testing

@testable import Signing

/// Attempts to pass off something else as a release. Each is refused, with the code that says how it was found.
@Suite struct AttackTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Of the check that must fail.
        let code: SigningError.Code
        var expected = ReleaseVerifier.Expectations()
        /// Whether the whole folder is checked instead of one file.
        var isFolder = false
        /// Changes the release, and returns the keys that its user trusts.
        let change: @Sendable (TestRelease) async throws -> TrustedKeys

        init(
            _ name: String, _ code: SigningError.Code, expecting expected: ReleaseVerifier.Expectations = .init(),
            folder isFolder: Bool = false, _ change: @escaping @Sendable (TestRelease) async throws -> TrustedKeys
        ) {
            (testDescription, self.code, self.expected, self.isFolder, self.change) = (
                name, code, expected, isFolder, change
            )
        }
    }

    private static let app = TestRelease.app
    private static let other = TestRelease.other
    private static let list = ReleaseManifest.fileName
    private static let provenance = "provenance.intoto.jsonl"

    @Test(arguments: files + releases + keys + texts + folders)
    func `an attack is refused`(_ attack: Attack) async throws {
        let release = try await TestRelease.make()
        let verifier = ReleaseVerifier(try await attack.change(release), expecting: attack.expected)
        let verdicts =
            attack.isFolder
            ? verifier.verify(folder: release.folder.path) : [verifier.verify(file: release.folder[Self.app])]
        #expect(verdicts.contains { !$0.accepted })
        #expect(verdicts.flatMap(\.refusals).contains(attack.code.rawValue), "\(verdicts.map(\.checks))")
    }

    @Test func `there are at least thirty`() {
        let all = Self.files + Self.releases + Self.keys + Self.texts + Self.folders
        #expect(all.count >= 30)
        #expect(Set(all.map(\.testDescription)).count == all.count)
    }

    // MARK: The file

    private static let files: [Attack] = [
        Attack("one byte is changed, and only minisign's signature is there", .badSignature) { release in
            try release.keepOnly(app + ".minisig")
            try release.edit(app, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("one byte is changed, and only cosign's signature is there", .badSignature) { release in
            try release.keepOnly(app + ".sig")
            try release.edit(app, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("one byte is changed, and only a bundle is there", .badSignature) { release in
            try release.keepOnly(app + ".sigstore.json")
            try release.edit(app, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("one byte is changed, and only the provenance is there", .notListed) { release in
            try release.keepOnly(provenance)
            try release.edit(app, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("one byte is changed, and only the list is there", .otherDigest) { release in
            try release.keepOnly(list)
            try release.edit(app, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("bytes and digests are changed, and the signatures are removed", .unsigned) { release in
            try release.keepOnly("SHA256SUMS")
            try release.edit(app, "1.2.0", "1.2.1")
            let files = try [app, other].map { ReleaseManifest.File(name: $0, try release.digests($0)) }
            try release.folder.write("SHA256SUMS", Checksums(files).text.utf8)
            return release.trusted
        },
        Attack("another file of the release has taken its place, with its signature", .otherName) { release in
            try release.keepOnly(app + ".minisig")
            try release.folder.write(app, release.text(other).utf8)
            try release.folder.write(app + ".minisig", release.text(other + ".minisig").utf8)
            return release.trusted
        },
        Attack("another file of the release has taken its place, and the provenance has both", .otherName) { release in
            try release.keepOnly(provenance)
            try release.folder.write(app, release.text(other).utf8)
            return release.trusted
        },
        Attack("the digests are those of another file", .otherDigest) { release in
            try release.edit("SHA256SUMS", try release.digests(app).sha256Text, try release.digests(other).sha256Text)
            return release.trusted
        },
    ]

    // MARK: The release

    private static let releases: [Attack] = [
        Attack("an older release is given again", .otherVersion, expecting: .init(version: "1.3.0")) { $0.trusted },
        Attack(
            "an older release is given to who accepts newer ones", .olderVersion,
            expecting: .init(atLeast: OrderedVersion("1.2.1"))
        ) {
            $0.trusted
        },
        Attack(
            "a pre-release is given to who wants the release", .olderVersion,
            expecting: .init(atLeast: OrderedVersion("1.2.0"))
        ) {
            release in
            let old = try await TestRelease.make(version: "1.2.0-rc.1", key: release.key, blobKey: release.blobKey)
            try replace(release, by: old)
            return release.trusted
        },
        Attack(
            "a version without an order is given to who accepts newer ones", .olderVersion,
            expecting: .init(atLeast: OrderedVersion("1"))
        ) {
            release in
            let odd = try await TestRelease.make(version: "latest", key: release.key, blobKey: release.blobKey)
            try replace(release, by: odd)
            return release.trusted
        },
        Attack("an older file has taken the place of the new one, with its signature", .otherDigest) { release in
            let old = try await TestRelease.make(version: "1.1.0", key: release.key, blobKey: release.blobKey)
            for name in [app, app + ".minisig"] { try release.folder.write(name, old.text(name).utf8) }
            return release.trusted
        },
        Attack("the same bytes were signed as another version", .contradiction) { release in
            try await release.signFile(app, version: "9.9.9")
            return release.trusted
        },
        Attack("the provenance is one of another commit", .contradiction) { release in
            let files = [ReleaseManifest.File(name: app, try release.digests(app))]
            let statement = release.provenance(of: files, commit: String(repeating: "e", count: 40))
            try release.folder.write(provenance, Envelope.file([await statement.signed(by: release.key)]))
            return release.trusted
        },
        Attack("the provenance is one of another release", .notListed) { release in
            let old = try await TestRelease.make(version: "1.1.0", key: release.key, blobKey: release.blobKey)
            try release.folder.write(provenance, old.text(provenance).utf8)
            return release.trusted
        },
        Attack("two provenances name two commits", .contradiction) { release in
            try release.remove(list, app + ".minisig")
            let files = [ReleaseManifest.File(name: app, try release.digests(app))]
            let second = release.provenance(of: files, commit: String(repeating: "e", count: 40))
            try release.folder.write(
                provenance,
                Envelope.file([
                    await release.provenance(of: files).signed(by: release.key), await second.signed(by: release.key),
                ]))
            return release.trusted
        },
        Attack("it is another commit", .otherCommit, expecting: .init(commit: "eeeeeeee")) { $0.trusted },
        Attack("a commit is asked for by too few digits", .otherCommit, expecting: .init(commit: "cccc")) {
            $0.trusted
        },
        Attack(
            "it is a release of another repository", .otherRepository,
            expecting: .init(repository: "git.example.com/team/other")
        ) {
            $0.trusted
        },
        Attack("what would say the version was removed", .unproven, expecting: .init(version: "1.2.0")) { release in
            try release.keepOnly(app + ".sig")
            return release.trusted
        },
        Attack("the notes are changed", .otherNotes) { release in
            try release.edit(ReleaseManifest.notesName, "Notes", "Run this as root")
            return release.trusted
        },
        Attack("the notes are those of another release", .otherNotes) { release in
            let old = try await TestRelease.make(version: "1.1.0", key: release.key, blobKey: release.blobKey)
            try release.folder.write(ReleaseManifest.notesName, old.text(ReleaseManifest.notesName).utf8)
            return release.trusted
        },
        Attack("the list is one of another release", .otherDigest) { release in
            let old = try await TestRelease.make(version: "1.1.0", key: release.key, blobKey: release.blobKey)
            try release.folder.write(list, old.text(list).utf8)
            return release.trusted
        },
    ]

    private static func replace(_ release: TestRelease, by other: TestRelease) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: other.folder.path) {
            try release.folder.write(name, Data(contentsOf: URL(fileURLWithPath: other.folder[name])))
        }
    }

    // MARK: Keys

    /// The keys of a user who knows only by its name that cosign's key was revoked.
    private static func blobKeyRevoked(
        _ release: TestRelease, others: [PublicKey] = [PrivateKey(new: .p256).publicKey]
    ) throws -> TrustedKeys {
        TrustedKeys(
            [release.key.publicKey] + others, revoked: try RevokedKeys(release.blobKey.publicKey.id.description))
    }

    /// Gives a signature of cosign's key the name that one of a further key has.
    private static func rename(_ release: TestRelease, _ ending: String) throws {
        let name = SignatureFile.name(of: app, ending, by: release.blobKey.publicKey.id)
        try FileManager.default.moveItem(atPath: release.folder[app + ending], toPath: release.folder[name])
    }

    private static let keys: [Attack] = [
        Attack("everything is signed with another key", .unknownKey) { release in
            TrustedKeys([PrivateKey(new: .ed25519).publicKey])
        },
        Attack("everything is signed with another key of the same name", .badSignature) { release in
            let mine = release.key.publicKey
            let line = Data("Ed".utf8) + mine.id.bytes + PrivateKey(new: .ed25519).publicKey.bytes
            return TrustedKeys([try PublicKey(line.base64EncodedString())])
        },
        Attack("the list is signed with another key, which names the trusted one", .badSignature) { release in
            let thief = PrivateKey(new: .ed25519)
            try await release.writeList(signers: [thief])
            try release.edit(list, thief.publicKey.id.description, release.key.publicKey.id.description)
            return release.trusted
        },
        Attack("the key was revoked by its name", .revokedKey) { release in
            TrustedKeys(
                [release.key.publicKey, release.blobKey.publicKey],
                revoked: try RevokedKeys(release.key.publicKey.id.description))
        },
        Attack("the key was revoked as PEM, and is trusted in minisign's form", .revokedKey) { release in
            TrustedKeys([release.key.publicKey], revoked: try RevokedKeys(release.key.publicKey.pem))
        },
        Attack("the key of the older form was revoked, and nobody trusts it", .revokedKey) { release in
            TrustedKeys([release.blobKey.publicKey], revoked: try RevokedKeys(release.key.publicKey.minisignText()))
        },
        Attack("a signature of a trusted key names another key", .keyMismatch) { release in
            let name = app + ".minisig"
            var lines = try release.text(name).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            var bytes = Data(base64Encoded: lines[1]) ?? Data()
            bytes[5] ^= 1
            lines[1] = bytes.base64EncodedString()
            try release.folder.write(name, lines.joined(separator: "\n").utf8)
            return release.trusted
        },
        Attack("minisign's signature claims the form that signs the file itself", .wrongKind) { release in
            try release.edit(app + ".minisig", "\nRU", "\nRW")
            return release.trusted
        },
        Attack("an Ed25519 signature is given as one of ECDSA", .badSignature) { release in
            let signature = try await release.key.signature(for: .message(Data(try release.text(app).utf8)))
            try release.folder.write(app + ".sig", (signature.base64EncodedString() + "\n").utf8)
            return release.trusted
        },
        Attack("a bundle of a trusted key has its signature of another file", .badSignature) { release in
            let signature = try await BlobSignature(of: release.digests(other), by: release.blobKey)
            let bundle = try signature.bundle(of: release.digests(app), key: release.blobKey.publicKey)
            try release.folder.write(app + ".sigstore.json", bundle)
            return release.trusted
        },
        Attack("a further signature of a trusted key is one of another file", .otherName) { release in
            let key = PrivateKey(new: .ed25519)
            try await release.signFile(app, as: other, by: key, id: key.publicKey.id)
            return TrustedKeys([release.key.publicKey, key.publicKey])
        },
        Attack("a further signature is one of a key that was revoked", .revokedKey) { release in
            let key = PrivateKey(new: .ed25519)
            try await release.signFile(app, by: key, id: key.publicKey.id)
            return TrustedKeys([release.key.publicKey], revoked: try RevokedKeys(key.publicKey.id.description))
        },
        Attack("a bundle is one of a key that was revoked by its name, and another of ECDSA is trusted", .revokedKey) {
            try $0.keepOnly(app + ".minisig", app + ".sigstore.json")
            return try blobKeyRevoked($0)
        },
        Attack("a bundle is one of a key that was revoked by its name, and none of ECDSA is trusted", .revokedKey) {
            try $0.keepOnly(app + ".minisig", app + ".sigstore.json")
            return try blobKeyRevoked($0, others: [])
        },
        Attack("the list says that a key that was revoked by its name made cosign's signature", .revokedKey) {
            try $0.keepOnly(app + ".minisig", app + ".sig", list)
            return try blobKeyRevoked($0)
        },
        Attack("cosign's signature has a key that was revoked by its name in its file's name", .revokedKey) {
            try $0.keepOnly(app + ".minisig", app + ".sig")
            try rename($0, SignatureFile.cosign)
            return try blobKeyRevoked($0)
        },
        Attack("a bundle has a key that was revoked by its name in its file's name, and hides it", .revokedKey) {
            try $0.keepOnly(app + ".minisig", app + ".sigstore.json")
            try $0.edit(app + ".sigstore.json", $0.blobKey.publicKey.hint, PrivateKey(new: .p256).publicKey.hint)
            try rename($0, SignatureFile.bundle)
            return try blobKeyRevoked($0)
        },
        Attack("a file is named as the signature of a further key that made no such one", .badSignature) { release in
            let key = PrivateKey(new: .p256)
            let file = SignatureFile.name(of: app, SignatureFile.cosign, by: key.publicKey.id)
            try release.folder.write(file, release.text(app + ".sig").utf8)
            return TrustedKeys([release.key.publicKey, key.publicKey])
        },
        Attack("the signature of the envelope is taken as one of the file", .badSignature) { release in
            let text = try release.text(list)
            let line = text.split(separator: "\"sig\":\"")[1].prefix { $0 != "\"" }
            try release.folder.write(app + ".sig", "\(line)\n".utf8)
            return release.trusted
        },
    ]

    // MARK: Texts

    private static let texts: [Attack] = [
        Attack("the trusted comment is changed", .badSignature) { release in
            try release.edit(app + ".minisig", "version:1.2.0", "version:1.9.0")
            return release.trusted
        },
        Attack("a signature file is cut", .malformed) { release in
            try release.folder.write(app + ".minisig", try release.text(app + ".minisig").utf8.prefix(150))
            return release.trusted
        },
        Attack("a signature file is empty", .malformed) { release in
            try release.folder.write(app + ".sig", [])
            return release.trusted
        },
        Attack("a side file is noise", .malformed) { release in
            try release.folder.write(provenance, (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) })
            return release.trusted
        },
        Attack("the list is cut", .malformed) { release in
            try release.folder.write(list, try release.text(list).utf8.dropLast(20))
            return release.trusted
        },
        Attack("a side file is huge", .tooLarge) { release in
            let file = try #require(FileHandle(forWritingAtPath: release.folder[app + ".minisig"]))
            try file.truncate(atOffset: 1 << 40)
            return release.trusted
        },
        Attack("the list is huge", .tooLarge) { release in
            let file = try #require(FileHandle(forWritingAtPath: release.folder[list]))
            try file.truncate(atOffset: 1 << 40)
            return release.trusted
        },
        Attack("the envelope of the list has its payload twice", .duplicateKey) { release in
            try release.edit(list, #""payload":"#, #""payload":"e30=","payload":"#)
            return release.trusted
        },
        Attack("the list that a trusted key signed has its version twice", .duplicateKey) { release in
            let payload = String(decoding: try StrictJSON.encode(release.list()), as: UTF8.self)
                .replacing(#""version":"1.2.0""#, with: #""version":"1.2.0","version":"1.3.0""#)
            try await write(payload, ReleaseManifest.payloadType, to: release)
            return release.trusted
        },
        Attack("a bundle has its signature twice", .duplicateKey) { release in
            try release.edit(app + ".sigstore.json", #""signature":"#, #""signature":"AAAA","signature":"#)
            return release.trusted
        },
        Attack("the list has the type of a statement", .wrongKind) { release in
            let payload = String(decoding: try StrictJSON.encode(release.list()), as: UTF8.self)
            try await write(payload, Provenance.payloadType, to: release)
            return release.trusted
        },
        Attack("the type of the list is changed after it was signed", .wrongKind) { release in
            try release.edit(list, "vnd.pipectl.release", "vnd.pipectl.other")
            return release.trusted
        },
        Attack("the provenance is a signed list of a release", .wrongKind) { release in
            try release.folder.write(provenance, release.text(list).utf8)
            return release.trusted
        },
        Attack("the provenance is one of another kind of builder", .wrongKind) { release in
            let files = [ReleaseManifest.File(name: app, try release.digests(app))]
            var statement = release.provenance(of: files)
            statement.predicate.buildDefinition.buildType = "https://example.com/by-hand"
            try release.folder.write(provenance, Envelope.file([await statement.signed(by: release.key)]))
            return release.trusted
        },
        Attack("the list has one signature more", .signatureCount) { release in
            try release.edit(list, #""signatures":["#, #""signatures":[{"keyid":"","sig":"AAAA"},"#)
            return release.trusted
        },
        Attack("the list has no signature", .signatureCount) { release in
            let envelope = #"{"payload":"e30=","payloadType":"\#(ReleaseManifest.payloadType)","signatures":[]}"#
            try release.folder.write(list, envelope.utf8)
            return release.trusted
        },
        Attack("the list is there twice, with two contents", .malformed) { release in
            let old = try await TestRelease.make(version: "1.1.0", key: release.key, blobKey: release.blobKey)
            try release.folder.write(list, (release.text(list) + old.text(list)).utf8)
            return release.trusted
        },
        Attack("the list has a later form", .newerFormat) { release in
            var manifest = try release.list()
            manifest.schemaVersion = 2
            try await write(
                String(decoding: try StrictJSON.encode(manifest), as: UTF8.self), ReleaseManifest.payloadType,
                to: release)
            return release.trusted
        },
        Attack("the list has a file outside of its folder", .badName) { release in
            var manifest = try release.list()
            manifest.files.append(.init(name: "../../etc/passwd", bytes: 1, sha256: String(repeating: "a", count: 64)))
            try await write(
                String(decoding: try StrictJSON.encode(manifest), as: UTF8.self), ReleaseManifest.payloadType,
                to: release)
            return release.trusted
        },
        Attack("the digests have a file outside of their folder", .badName) { release in
            try release.folder.write("SHA256SUMS", "\(String(repeating: "a", count: 64))  ../\(app)\n".utf8)
            return release.trusted
        },
        Attack("the digests have the file twice", .duplicateName) { release in
            try release.folder.write(
                "SHA256SUMS", (release.text("SHA256SUMS") + "\(String(repeating: "a", count: 64))  \(app)\n").utf8)
            return release.trusted
        },
        Attack("the trusted comment has the version twice", .duplicateKey) { release in
            let signature = try await MinisignSignature(
                of: release.digests(app), trustedComment: "file:\(app)\tversion:1.2.0\tversion:1.3.0", by: release.key)
            try release.folder.write(app + ".minisig", signature.text.utf8)
            return release.trusted
        },
    ]

    /// Signs a payload as the list of the release, without looking at it.
    private static func write(_ payload: String, _ type: String, to release: TestRelease) async throws {
        let envelope = try await Envelope(Data(payload.utf8), type: type, by: release.key)
        try release.folder.write(list, Envelope.file([envelope]))
    }

    // MARK: Folders

    private static let folders: [Attack] = [
        Attack("a folder has a file more", .extraFile, folder: true) { release in
            try release.folder.write("install.sh", "curl | sh".utf8)
            return release.trusted
        },
        Attack("a folder has a signature of a file that is not there", .extraFile, folder: true) { release in
            try release.folder.write("install.sh.minisig", "x".utf8)
            return release.trusted
        },
        Attack("a folder has a file less", .missing, folder: true) { release in
            try release.remove(other)
            return release.trusted
        },
        Attack("a file of the folder is changed", .otherDigest, folder: true) { release in
            try release.edit(other, "1.2.0", "1.2.1")
            return release.trusted
        },
        Attack("a folder has no list", .missing, folder: true) { release in
            try release.remove(list)
            return release.trusted
        },
        Attack(
            "a folder has the list of another version", .otherVersion, expecting: .init(version: "1.3.0"), folder: true
        ) {
            $0.trusted
        },
    ]
}
