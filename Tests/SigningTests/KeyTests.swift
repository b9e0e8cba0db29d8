import Foundation
import TestBasics
import Testing

@testable import Signing

@Suite struct KeyTests {
    @Test func `minisign's keys are read, and written as they were`() throws {
        let secret = try PrivateKey(KeySamples.minisignSecret)
        #expect(secret.publicKey == (try PublicKey(KeySamples.minisignPublic)))
        #expect(secret.publicKey.id.description == "A77081B52FA2A74F")
        #expect(try secret.publicKey.minisignText() == KeySamples.minisignPublic)
        #expect(
            try secret.minisignText().split(separator: "\n")[1] == KeySamples.minisignSecret.split(separator: "\n")[1])
    }

    @Test func `the line of a key alone is the key`() throws {
        let line = KeySamples.minisignPublic.split(separator: "\n")[1]
        #expect(try PublicKey(String(line)) == PublicKey(KeySamples.minisignPublic))
    }

    @Test func `an encrypted key opens with its passphrase only`() async throws {
        let opened = try PrivateKey(KeySamples.encryptedSecret, passphrase: KeySamples.passphrase)
        #expect(try opened.publicKey == PublicKey(KeySamples.minisignPublic))
        #expect(await code { _ = try PrivateKey(KeySamples.encryptedSecret) } == .encryptedKey)
        #expect(await code { _ = try PrivateKey(KeySamples.encryptedSecret, passphrase: "") } == .encryptedKey)
        #expect(await code { _ = try PrivateKey(KeySamples.encryptedSecret, passphrase: "x") } == .wrongPassphrase)
    }

    @Test func `an encrypted key that wants more memory than minisign is refused at once`() async throws {
        var bytes = try #require(Data(base64Encoded: String(KeySamples.encryptedSecret.split(separator: "\n")[1])))
        bytes.replaceSubrange(46..<54, with: [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        let text = bytes.base64EncodedString()
        #expect(await code { _ = try PrivateKey(text, passphrase: "x") } == .badKey)
    }

    @Test func `keys of openssl are read`() throws {
        let p256 = try PrivateKey(KeySamples.p256Secret)
        #expect(try p256.publicKey == PublicKey(KeySamples.p256Public))
        #expect(try PrivateKey(KeySamples.p256SEC1).publicKey == p256.publicKey)
        #expect(p256.publicKey.pem == KeySamples.p256Public + "\n")
        let ed25519 = try PrivateKey(KeySamples.ed25519Secret)
        #expect(try ed25519.publicKey == PublicKey(KeySamples.ed25519Public))
        #expect(ed25519.publicKey.pem == KeySamples.ed25519Public + "\n")
        #expect(try PrivateKey(ed25519.pem).publicKey == ed25519.publicKey)
    }

    @Test func `32 bytes in Base64 are an Ed25519 key`() throws {
        let text = Data(repeating: 7, count: 32).base64EncodedString()
        #expect(try PrivateKey(text).publicKey.algorithm == .ed25519)
    }

    @Test func `a new key has one name in all its forms`() throws {
        let key = PrivateKey(new: .ed25519).publicKey
        #expect(try PublicKey(key.minisignText()).id == PublicKey(key.pem).id)
        #expect(key.id == key.fingerprint)
    }

    @Test(arguments: [
        "", "x", "RWQ=", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        String(repeating: "A", count: 20_000),
        "untrusted comment: x", "RWRPp6IvtYFwp1fM9GUcdnoL84Y3y5ZtTylUl+VlmMaLDc0PY75Bu6Q", "a\nb\nc",
    ])
    func `what is no key is refused`(_ text: String) async {
        #expect(await code { _ = try PublicKey(text) } == .badKey)
        #expect(await code { _ = try PrivateKey(text) } == .badKey)
    }

    @Test(arguments: [KeySamples.minisignSecret, KeySamples.p256Secret, KeySamples.p256SEC1])
    func `a secret key is no public key, and the error says so`(_ text: String) async {
        #expect(await code { _ = try PublicKey(text) } == .secretKey)
    }

    @Test(arguments: ["ENCRYPTED PRIVATE KEY", "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY"])
    func `an encrypted PEM is told from a broken one`(_ kind: String) async {
        let text = "-----BEGIN \(kind)-----\nAAAA\n-----END \(kind)-----"
        #expect(await code { _ = try PrivateKey(text) } == .encryptedKey)
    }

    @Test func `a list of revoked keys has names, minisign's keys and PEM`() throws {
        let text = "# old keys\nA77081B52FA2A74F\n\n\(KeySamples.publishedKey)\n\(KeySamples.p256Public)\n"
        let revoked = try RevokedKeys(text)
        #expect(revoked.contains(try PublicKey(KeySamples.minisignPublic)))
        #expect(revoked.contains(try PublicKey(KeySamples.publishedKey)))
        #expect(revoked.contains(try PublicKey(KeySamples.p256Public)))
        #expect(!revoked.contains(try PublicKey(KeySamples.ed25519Public)))
    }

    @Test(arguments: ["A77081B52FA2A7", "revoked", "-----BEGIN PUBLIC KEY-----\nMCow"])
    func `a list of revoked keys that can't be read is an error`(_ text: String) async {
        #expect(await code { _ = try RevokedKeys(text) } == .badKey)
    }

    // MARK: Commands

    private static let runner: CommandSigner.Runner = { command, input in
        try await withTemporaryFolder { folder in
            let file = folder + "/input"
            try Data(input).write(to: URL(fileURLWithPath: file))
            let words = command.map { $0.replacing("INPUT", with: file) }
            let ended = try await CommandRunner(in: folder).end(of: words)
            return Array(ended.output.utf8)
        }
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: succeeds(["openssl", "version"])))
    func `a command signs a digest, and may say other things`() async throws {
        try await withTemporaryFolder { folder in
            try KeySamples.p256Secret.write(toFile: folder + "/key", atomically: false, encoding: .utf8)
            let signer = CommandSigner(
                [
                    "sh", "-c",
                    "echo touch the token; openssl pkeyutl -sign -inkey \(folder)/key -in INPUT | base64 -w 0; echo; echo done",
                ], publicKey: try PublicKey(KeySamples.p256Public), run: Self.runner)
            let file = FileDigests(of: Data("hello".utf8))
            let signature = try await BlobSignature(of: file, by: signer)
            #expect(try signature.signer(of: file, among: TrustedKeys([signer.publicKey])) == signer.publicKey)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [["echo", "AAAA"], ["true"], [], ["yes"]])
    func `a command that prints no signature of its key has failed`(_ command: [String]) async throws {
        let signer = CommandSigner(command, publicKey: try PublicKey(KeySamples.p256Public)) { command, _ in
            command == ["yes"] ? Array(repeating: UInt8(ascii: "y"), count: 1 << 20) : Array("AAAA\n".utf8)
        }
        #expect(await code { _ = try await signer.signature(for: .message(Data())) } == .signerFailed)
    }

    @Test func `a command and its public key are read, and a key is no command`() throws {
        let text = "command: /usr/bin/sign --key  release\n\(KeySamples.p256Public)"
        let signer = try #require(try CommandSigner(text, run: Self.runner))
        #expect(signer.command == ["/usr/bin/sign", "--key", "release"])
        #expect(signer.publicKey == (try PublicKey(KeySamples.p256Public)))
        #expect(try CommandSigner(KeySamples.p256Secret, run: Self.runner) == nil)
    }

    @Test(arguments: [
        ("command:", SigningError.Code.badKey), ("command: sign\n\(KeySamples.p256Public)", .badKey),
        ("command: /usr/bin/sign", .badKey), ("command: /usr/bin/sign\n\(KeySamples.p256Secret)", .secretKey),
    ])
    func `a command without a path or a public key is refused`(text: String, code expected: SigningError.Code) async {
        let problem = #expect(throws: SigningError.self) { _ = try CommandSigner(text, run: Self.runner) }
        #expect(problem?.code == expected)
        // The text is a secret, which would be masked in the sentence.
        #expect(problem?.description.contains("command:") == false)
    }

    @Test func `an Ed25519 key signs no digest`() async throws {
        let file = FileDigests(of: Data())
        let key = PrivateKey(new: .ed25519)
        #expect(await code { _ = try await BlobSignature(of: file, by: key) } == .unfitKey)
        #expect(await code { _ = try await key.signature(for: .digest(file)) } == .unfitKey)
        let other = PrivateKey(new: .p256)
        #expect(await code { _ = try await MinisignSignature(of: file, trustedComment: "x", by: other) } == .unfitKey)
    }
}
