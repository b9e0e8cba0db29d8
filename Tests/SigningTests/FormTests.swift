import Foundation
import TestBasics
import Testing

@testable import Signing

@Suite struct FormTests {
    private let file = FileDigests(of: Data("test".utf8))

    // MARK: minisign

    @Test func `a published signature of minisign is valid, and for that file only`() async throws {
        let signature = try MinisignSignature(Data(KeySamples.publishedSignature.utf8))
        let trusted = TrustedKeys([try PublicKey(KeySamples.publishedKey)])
        #expect(try signature.signer(of: file, among: trusted).id.description == "E7620F1842B4E81F")
        #expect(try TrustedComment(signature.trustedComment).file == "test")
        let other = FileDigests(of: Data("Test".utf8))
        #expect(await code { _ = try signature.signer(of: other, among: trusted) } == .badSignature)
    }

    @Test func `minisign's older form is refused`() async {
        #expect(await code { _ = try MinisignSignature(Data(KeySamples.publishedOldSignature.utf8)) } == .wrongKind)
    }

    @Test(arguments: [
        "", "\n\n\n\n", "untrusted comment: x\nAAAA\ntrusted comment: y\nAAAA\n",
        KeySamples.publishedSignature + "more\n",
        KeySamples.publishedSignature.replacing("file:test", with: "file:\u{1B}[2Jtest"),
        KeySamples.publishedSignature.replacing("\n", with: "\r\n"), String(repeating: "x", count: 100_000),
    ])
    func `what is no signature file of minisign is refused`(_ text: String) async {
        #expect(await code { _ = try MinisignSignature(Data(text.utf8)) } == .malformed)
    }

    @Test func `a signature that was made is read again`() async throws {
        let key = try PrivateKey(KeySamples.minisignSecret)
        let comment = TrustedComment(file: "test", version: "1.2.0", commit: "abc", repository: "git.example.com/o/r")
        let text = comment.text(madeAt: Date(timeIntervalSince1970: 1_700_000_000.9))
        #expect(text.hasPrefix("timestamp:1700000000\tfile:test\tversion:1.2.0\t"))
        let signature = try await MinisignSignature(of: file, trustedComment: text, by: key)
        let again = try MinisignSignature(Data(signature.text.utf8))
        #expect(again == signature)
        #expect(try again.signer(of: file, among: TrustedKeys([key.publicKey])) == key.publicKey)
        #expect(try TrustedComment(again.trustedComment) == comment)
    }

    @Test(arguments: ["a\nb", "a\u{1B}", String(repeating: "a", count: 5_000)])
    func `a trusted comment is one line`(_ comment: String) async throws {
        let key = try PrivateKey(KeySamples.minisignSecret)
        #expect(
            await code { _ = try await MinisignSignature(of: file, trustedComment: comment, by: key) } == .malformed)
    }

    private static let hasMinisign = succeeds(["minisign", "-v"])

    @Test(
        .timeLimit(.minutes(1)), .enabled(if: hasMinisign, "minisign is not installed: run script/bootstrap delivery"))
    func `minisign accepts our signatures, and we accept its`() async throws {
        try await withTemporaryFolder { folder in
            let key = PrivateKey(new: .ed25519)
            try key.publicKey.minisignText().write(toFile: folder + "/key.pub", atomically: false, encoding: .utf8)
            try key.minisignText().write(toFile: folder + "/key", atomically: false, encoding: .utf8)
            let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 * $0) })
            try content.write(to: URL(fileURLWithPath: folder + "/file"))
            let comment = TrustedComment(file: "file", version: "1.0", commit: nil, repository: nil).text(madeAt: .now)
            let ours = try await MinisignSignature(of: FileDigests(of: content), trustedComment: comment, by: key)
            try ours.text.write(toFile: folder + "/file.minisig", atomically: false, encoding: .utf8)
            try await runCommand("minisign", "-Vm", "file", "-p", "key.pub", in: folder)
            try await runCommand("minisign", "-S", "-s", "key", "-m", "file", "-x", "theirs", in: folder)
            let theirs = try MinisignSignature(Data(contentsOf: URL(fileURLWithPath: folder + "/theirs")))
            let digests = try #require(try ReleaseBytes.digests(of: folder + "/file", limit: 1 << 20))
            #expect(try theirs.signer(of: digests, among: TrustedKeys([key.publicKey])) == key.publicKey)
        }
    }

    // MARK: cosign

    @Test(.timeLimit(.minutes(1)), .enabled(if: succeeds(["openssl", "version"])))
    func `openssl accepts our signature of a file as ECDSA over its SHA-256`() async throws {
        try await withTemporaryFolder { folder in
            let key = PrivateKey(new: .p256)
            try key.publicKey.pem.write(toFile: folder + "/key.pem", atomically: false, encoding: .utf8)
            try Data("test".utf8).write(to: URL(fileURLWithPath: folder + "/file"))
            let signature = try await BlobSignature(of: file, by: key)
            try signature.bytes.write(to: URL(fileURLWithPath: folder + "/der"))
            try await runCommand(
                "openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "der", "file", in: folder)
            #expect(try BlobSignature(line: Data(signature.line.utf8)).bytes == signature.bytes)
        }
    }

    @Test func `a bundle has what sigstore's version 0.3 wants`() async throws {
        let key = try PrivateKey(KeySamples.p256Secret)
        let signature = try await BlobSignature(of: file, by: key)
        let data = try signature.bundle(of: file, key: key.publicKey)
        #expect(try BlobSignature(bundle: data, of: file) == signature)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json""#))
        #expect(text.contains(#""algorithm":"SHA2_256""#))
        // As `openssl pkey -pubin -outform DER | sha256sum` gives it.
        #expect(text.contains(#""hint":"\#(key.publicKey.hint)""#))
        let other = FileDigests(of: Data())
        #expect(await code { _ = try BlobSignature(bundle: data, of: other) } == .badSignature)
        let certified = text.replacing("publicKey", with: "certificate")
        #expect(await code { _ = try BlobSignature(bundle: Data(certified.utf8), of: file) } == .wrongKind)
        let later = text.replacing("v0.3", with: "v0.4")
        #expect(await code { _ = try BlobSignature(bundle: Data(later.utf8), of: file) } == .wrongKind)
    }

    // MARK: Envelopes

    /// The example of the specification.
    @Test func `the signed bytes of an envelope are those of DSSE`() {
        let bytes = Envelope.signedBytes(Data("hello world".utf8), "http://example.com/HelloWorld")
        #expect(String(decoding: bytes, as: UTF8.self) == "DSSEv1 29 http://example.com/HelloWorld 11 hello world")
    }

    @Test(arguments: [PublicKey.Algorithm.ed25519, .p256])
    func `an envelope is read again with its payload and its signer`(_ algorithm: PublicKey.Algorithm) async throws {
        let key = PrivateKey(new: algorithm)
        let envelope = try await Envelope(Data("{}".utf8), type: "application/x", by: key)
        let file = try Envelope.file([envelope, envelope])
        let again = try Envelope.read(file, named: "it")
        #expect(again == [envelope, envelope])
        #expect(try again[0].signer(among: TrustedKeys([key.publicKey])) == key.publicKey)
        let other = TrustedKeys([PrivateKey(new: algorithm).publicKey])
        #expect(await code { _ = try again[0].signer(among: other) } == .unknownKey)
    }

    @Test func `a statement says where files come from in the fields of SLSA`() async throws {
        let provenance = Provenance(
            of: [.init(name: "a.tar.gz", sha256: String(repeating: "a", count: 64))],
            parameters: .init(repository: "https://git.example.com/o/r", ref: "refs/heads/main", workflow: "release"),
            internalParameters: ["sandbox": "bwrap"],
            commit: .init(uri: "git+https://git.example.com/o/r@refs/heads/main", digest: ["gitCommit": "abc"]),
            builder: .init(id: "https://ci.example.com/box"),
            metadata: .init(
                invocationId: "7", startedOn: Date(timeIntervalSince1970: 1_700_000_000),
                finishedOn: Date(timeIntervalSince1970: 1_700_000_060)))
        let envelope = try await provenance.signed(by: PrivateKey(new: .ed25519))
        #expect(try Provenance.read(envelope) == provenance)
        let text = String(decoding: envelope.payload, as: UTF8.self)
        for part in [
            #""_type":"https://in-toto.io/Statement/v1""#, #""predicateType":"https://slsa.dev/provenance/v1""#,
            #""startedOn":"2023-11-14T22:13:20Z""#, #""resolvedDependencies":[{"digest":{"gitCommit":"abc"}"#,
        ] { #expect(text.contains(part), "\(part)") }
    }

    // MARK: Lists

    @Test func `a list of digests is what sha256sum writes`() throws {
        let sum = String(repeating: "a", count: 64)
        let list = try Checksums(Data("\(sum)  b.txt\n\(sum) *./a.txt\n".utf8))
        #expect(list.text == "\(sum)  a.txt\n\(sum)  b.txt\n")
    }

    @Test func `a release is read again, with those who signed it`() async throws {
        let keys = [PrivateKey(new: .ed25519), PrivateKey(new: .p256)]
        let manifest = TestRelease.manifest(files: [
            .init(name: "a", bytes: 1, sha256: String(repeating: "a", count: 64))
        ])
        let data = try await manifest.signed(by: keys)
        let read = try ReleaseManifest.read(data, among: TrustedKeys(keys.map(\.publicKey)))
        #expect(read.manifest == manifest)
        #expect(read.signers == keys.map(\.publicKey))
        let one = try ReleaseManifest.read(data, among: TrustedKeys([keys[1].publicKey]))
        #expect(one.signers == [keys[1].publicKey])
    }

    @Test func `a release is signed only if it can be read again`() async throws {
        let key = PrivateKey(new: .ed25519)
        let sum = String(repeating: "a", count: 64)
        let bad: [(SigningError.Code, [ReleaseManifest.File])] = [
            (.badName, [.init(name: "../a", bytes: 1, sha256: sum)]),
            (.duplicateName, [.init(name: "A", bytes: 1, sha256: sum), .init(name: "a", bytes: 1, sha256: sum)]),
            (.duplicateName, [.init(name: "release.json", bytes: 1, sha256: sum)]),
            (.malformed, [.init(name: "a", bytes: -1, sha256: sum)]),
            (.malformed, [.init(name: "a", bytes: 1, sha256: "abc")]),
        ]
        for (expected, files) in bad {
            #expect(await code { _ = try await TestRelease.manifest(files: files).signed(by: [key]) } == expected)
        }
    }
}
