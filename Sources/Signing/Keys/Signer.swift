package import Foundation

/// What can sign with one key: a key in memory, a command that reaches a key elsewhere.
package protocol Signer: Sendable {
    /// The key that checks its signatures.
    var publicKey: PublicKey { get }

    /// A signature: 64 bytes of Ed25519, or ECDSA in DER. An Ed25519 key signs messages only.
    ///
    /// - Throws: ``SigningError`` with `unfitKey` or `signerFailed`, or what its means throw.
    func signature(for input: SigningInput) async throws -> Data
}

extension SigningError {
    static let signsNoDigest = SigningError(
        .unfitKey,
        "an Ed25519 key does not sign the SHA-256 of a file, as cosign's form wants: use one for ECDSA on P-256")
}

/// A command that signs: with a hardware token, a key agent, a service.
///
/// For ECDSA it gets the 32 bytes of the SHA-256 on its standard input, for Ed25519 the message. It prints the
/// signature, as its bytes alone or as a line of Base64. Whatever it prints counts only if it is a signature of the
/// public key, so that messages between its lines do no harm and a wrong key is found at once.
package struct CommandSigner: Signer {
    /// Runs a command to its end and returns what it printed. The room that starts processes gives it.
    ///
    /// - Throws: If it can't be started, fails, or takes longer than it may.
    package typealias Runner = @Sendable (_ command: [String], _ input: [UInt8]) async throws -> [UInt8]

    /// The word before the command in the text of such a key.
    private static let mark = "command:"

    package let publicKey: PublicKey
    /// The program and its arguments.
    package let command: [String]
    private let run: Runner

    package init(_ command: [String], publicKey: PublicKey, run: @escaping Runner) {
        self.publicKey = publicKey
        self.command = command
        self.run = run
    }

    /// Reads a line `command: PROGRAM ARGUMENT…` and the public key below it. The program is an absolute path; arguments
    /// are divided by spaces, and no shell sees them.
    ///
    /// - Returns: Nil if the text is no such line, and so may be a key itself.
    /// - Throws: ``SigningError`` with `badKey` or `secretKey`.
    package init?(_ text: String, run: @escaping Runner) throws(SigningError) {
        guard text.hasPrefix(Self.mark) else { return nil }
        let end = text.firstIndex(where: \.isNewline) ?? text.endIndex
        let words = text[..<end].dropFirst(Self.mark.count).split(whereSeparator: \.isWhitespace).map(String.init)
        guard let program = words.first, program.hasPrefix("/") else {
            throw SigningError(
                .badKey,
                "it names a command that signs, but not the absolute path of its program: write one like /usr/bin/sign")
        }
        self.init(words, publicKey: try PublicKey(String(text[end...])), run: run)
    }

    package func signature(for input: SigningInput) async throws -> Data {
        let bytes: [UInt8]
        switch (publicKey.algorithm, input) {
        case (.ed25519, .message(let message)): bytes = Array(message)
        case (.ed25519, .digest): throw SigningError.signsNoDigest
        case (.p256, _): bytes = Array(input.sha256)
        }
        guard let program = command.first, !program.isEmpty else {
            throw SigningError(.signerFailed, "the command that signs is empty: name its program and arguments")
        }
        let output = Data(try await run(command, bytes))
        if let signature = candidates(output).first(where: { publicKey.isValid($0, for: input) }) { return signature }
        throw SigningError(
            .signerFailed,
            "\(program) printed no signature of the key \(publicKey.id): it must print the signature of its standard "
                + "input, as bytes or as a line of Base64, and the public key must be the one that it signs with")
    }

    /// What may be a signature: the whole output, and each line of it.
    private func candidates(_ output: Data) -> [Data] {
        guard output.count <= 64 << 10 else { return [] }
        let lines = output.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        return [output] + lines.prefix(1_000).filter { $0.count <= 200 }.compactMap { Data(base64Encoded: $0) }
    }
}
