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
                atLeast: ReleaseVersion("1.2")))
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

    @Test func `what somebody else signed, too, does no harm`() async throws {
        let release = try await TestRelease.make()
        try await release.writeList(signers: [release.key, PrivateKey(new: .p256)])
        let verdict = verify(release, keys: TrustedKeys([release.key.publicKey]))
        #expect(verdict.accepted)
        #expect(verdict.checks.filter { $0.state == .absent }.map(\.code) == ["unknown-key", "unknown-key"])
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
        #expect(verdicts.allSatisfy { $0.accepted })
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
