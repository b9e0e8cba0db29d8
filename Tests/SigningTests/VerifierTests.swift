import Foundation
import TestBasics
import Testing

@testable import Signing

@Suite struct VerifierTests {
    private let app = TestRelease.app

    private func verify(
        _ release: TestRelease, _ expected: ReleaseVerifier.Expectations = .init(), keys: TrustedKeys? = nil
    ) -> FileVerdict {
        ReleaseVerifier(keys ?? release.trusted, expecting: expected).verify(file: release.folder[app])
    }

    @Test func `a whole release is accepted, and every check has passed`() async throws {
        let release = try await TestRelease.make()
        let verdict = verify(
            release,
            .init(
                version: "v1.2.0", commit: "cccccccc", repository: "git@git.example.com:team/tool.git",
                atLeast: OrderedVersion("1.2")))
        #expect(verdict.refusals == [])
        #expect(verdict.accepted)
        #expect(Set(verdict.checks.map(\.name)) == Set(ReleaseCheck.Name.allCases).subtracting([.folder]))
        #expect(verdict.checks.allSatisfy { $0.state == .passed })
        #expect(verdict.version == "1.2.0")
        #expect(verdict.signedBy == [release.key.publicKey.id, release.blobKey.publicKey.id])
    }

    /// Whoever downloads one file and one signature can check it.
    @Test(arguments: [
        app + ".minisig", app + ".sig", app + ".sigstore.json", "provenance.intoto.jsonl", "release.json",
    ])
    func `one signed form is enough`(_ kept: String) async throws {
        let release = try await TestRelease.make()
        try release.keepOnly(kept)
        let verdict = verify(release)
        #expect(verdict.refusals == [])
        #expect(verdict.accepted)
    }
    private static let app = TestRelease.app

    @Test func `digests alone prove nothing`() async throws {
        let release = try await TestRelease.make()
        try release.keepOnly("SHA256SUMS")
        let verdict = verify(release)
        #expect(verdict.checks.first { $0.name == .checksums }?.state == .passed)
        #expect(verdict.refusals == ["unsigned"])
        #expect(!verdict.accepted)
    }

    @Test func `it is told whether digests are signed`() async throws {
        func sentence(_ release: TestRelease) -> String? {
            verify(release).checks.first { $0.name == .checksums && $0.state == .passed }?.sentence
        }
        let release = try await TestRelease.make()
        let unsigned = try #require(sentence(release))
        try await release.signFile(Checksums.fileName)
        #expect(sentence(release) != unsigned)
        // The signature is of another file, and then of other digests.
        try await release.signFile(Checksums.fileName, as: "other")
        #expect(sentence(release) == unsigned)
        try await release.signFile(Checksums.fileName)
        try release.folder.write(Checksums.fileName, (release.text(Checksums.fileName) + "\n").utf8)
        #expect(sentence(release) == unsigned || sentence(release) == nil)
        var list = try release.list()
        list.files.append(ReleaseManifest.File(name: Checksums.fileName, try release.digests(Checksums.fileName)))
        try release.folder.write(ReleaseManifest.fileName, await list.signed(by: [release.key]))
        #expect(sentence(release) != unsigned)
    }

    /// What a draft's folder may be, and what is said of it.
    @Test(arguments: [
        ("same", []), ("changed", ["other-digest"]), ("missing", ["missing"]), ("more", ["extra-file"]),
        ("damaged", ["bad-signature"]),
    ])
    func `a draft is compared with the list of the caller`(how: String, refusals: [String]) async throws {
        let release = try await TestRelease.make()
        let list = TestRelease.manifest(
            files: try [Self.app, TestRelease.other].map { ReleaseManifest.File(name: $0, try release.digests($0)) })
        try release.remove(ReleaseManifest.fileName)
        var trusted = TrustedKeys([])
        switch how {
        case "changed": try release.folder.write(Self.app, "x".utf8)
        case "missing": try release.remove(Self.app)
        case "more": try release.folder.write("more", [])
        case "damaged":
            trusted = release.trusted
            try release.folder.write(Self.app + ".minisig", release.text(TestRelease.other + ".minisig").utf8)
        default: break
        }
        let verdicts = ReleaseVerifier(trusted).verify(draft: list, in: release.folder.path)
        #expect(verdicts.flatMap(\.refusals) == refusals)
        #expect(verdicts.allSatisfy(\.accepted) == refusals.isEmpty)
        #expect(verdicts.count == (how == "missing" ? 2 : 3))
    }

    @Test func `a draft that no trusted key has signed is refused`() async throws {
        let release = try await TestRelease.make()
        let list = try release.list()
        try release.remove(ReleaseManifest.fileName)
        let other = TrustedKeys([PrivateKey(new: .ed25519).publicKey])
        let verdicts = ReleaseVerifier(other).verify(draft: list, in: release.folder.path)
        #expect(verdicts.flatMap(\.refusals) == ["unknown-key"])
        let own = ReleaseVerifier(release.trusted).verify(draft: list, in: release.folder.path)
        #expect(own.allSatisfy(\.accepted) == true)
    }

    @Test func `a draft is what the caller expects`() async throws {
        let release = try await TestRelease.make()
        let verdict = ReleaseVerifier(TrustedKeys([]), expecting: .init(version: "1.3.0"))
            .verify(draft: try release.list(), in: release.folder.path)[0]
        #expect(verdict.refusals == ["other-version"])
        #expect(!verdict.accepted)
    }

    @Test func `what somebody else signed, too, does no harm`() async throws {
        let release = try await TestRelease.make()
        try await release.writeList(signers: [release.key, PrivateKey(new: .p256)])
        let verdict = verify(release, keys: TrustedKeys([release.key.publicKey]))
        #expect(verdict.accepted)
        #expect(verdict.checks.filter { $0.state == .absent }.map(\.code) == ["unknown-key", "unknown-key"])
    }

    /// A release is signed with a new key of which its user knows nothing yet.
    @Test(arguments: [[], ["release.json"], [app + ".sigstore.json"], [app + ".sig"], [app + ".sig", "release.json"]])
    func `a signature of an unknown key does no harm where another key of its form is trusted`(
        _ removed: [String]
    ) async throws {
        let release = try await TestRelease.make()
        for name in removed { try release.remove(name) }
        let verdict = verify(release, keys: TrustedKeys([release.key.publicKey, PrivateKey(new: .p256).publicKey]))
        #expect(verdict.refusals == [])
        #expect(verdict.accepted)
        let blobs = verdict.checks.filter { [.cosign, .bundle].contains($0.name) && $0.code != nil }
        #expect(blobs.count == (removed.contains { $0.hasPrefix(app) } ? 1 : 2))
        #expect(blobs.allSatisfy { $0.code == "unknown-key" })
    }

    @Test func `a signature that nothing names the key of must be one of a trusted key`() async throws {
        let release = try await TestRelease.make()
        try release.keepOnly(app + ".minisig", app + ".sig")
        let verdict = verify(release, keys: TrustedKeys([release.key.publicKey, PrivateKey(new: .p256).publicKey]))
        #expect(verdict.refusals == ["bad-signature"])
    }

    @Test func `a signature of an unknown key alone is not enough`() async throws {
        let release = try await TestRelease.make()
        try release.keepOnly(app + ".sig", app + ".sigstore.json")
        let verdict = verify(release, keys: TrustedKeys([PrivateKey(new: .p256).publicKey]))
        #expect(verdict.refusals == ["unknown-key"])
        #expect(!verdict.accepted)
    }

    /// Old and new keys sign side by side for a while; each user trusts either.
    @Test(arguments: [PublicKey.Algorithm.ed25519, .p256])
    func `the signature of a further key is found by the id in its name`(_ algorithm: PublicKey.Algorithm) async throws
    {
        let release = try await TestRelease.make()
        try release.remove("release.json", "provenance.intoto.jsonl")
        let key = PrivateKey(new: algorithm)
        let id = key.publicKey.id
        if algorithm == .ed25519 {
            try await release.signFile(app, by: key, id: id)
        } else {
            let signature = try await BlobSignature(of: release.digests(app), by: key)
            try release.folder.write(SignatureFile.name(of: app, SignatureFile.cosign, by: id), signature.line.utf8)
        }
        for keys in [[key.publicKey], [release.key.publicKey, release.blobKey.publicKey]] {
            let verdict = verify(release, keys: TrustedKeys(keys))
            #expect(verdict.refusals == [])
            #expect(verdict.accepted)
            #expect(verdict.signedBy == keys.map(\.id))
        }
    }

    @Test func `the list, the notes and the provenance of a release can be checked themselves`() async throws {
        let release = try await TestRelease.make()
        for name in [ReleaseManifest.fileName, ReleaseManifest.notesName] {
            let verdict = ReleaseVerifier(release.trusted).verify(file: release.folder[name])
            #expect(verdict.refusals == [])
            #expect(verdict.accepted, "\(name)")
        }
    }

    @Test func `a folder with a whole release is accepted`() async throws {
        let release = try await TestRelease.make()
        let verdicts = ReleaseVerifier(release.trusted).verify(folder: release.folder.path)
        #expect(verdicts.count == 3)
        #expect(!verdicts.isEmpty && !verdicts.contains { !$0.accepted })
        #expect(verdicts.flatMap(\.refusals) == [])
        #expect(verdicts[0].checks.contains { $0.name == .folder && $0.state == .passed })
    }

    @Test func `a verdict survives JSON`() async throws {
        let verdict = verify(try await TestRelease.make())
        #expect(try JSONDecoder().decode(FileVerdict.self, from: JSONEncoder().encode(verdict)) == verdict)
    }

    @Test func `a file that is not there is refused`() async throws {
        let release = try await TestRelease.make()
        let verdict = ReleaseVerifier(release.trusted).verify(file: release.folder["nothing"])
        #expect(verdict.refusals == ["missing"])
        #expect(!verdict.accepted)
    }

    @Test(.timeLimit(.minutes(1))) func `a pipe is no file of a release, and nobody waits for it`() async throws {
        let release = try await TestRelease.make()
        try release.remove(app + ".minisig")
        try await runCommand("mkfifo", release.folder[app + ".minisig"])
        #expect(verify(release).refusals == ["unreadable"])
    }
}
