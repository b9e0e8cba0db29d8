import Foundation
import Pipeline
import Signing

/// The keys that sign a release, each with the form in which it signs files.
struct Signers {
    let all: [(key: any Signer, form: SignatureForm)]

    /// - Throws: ``DeliveryProblem`` if a secret has no usable key, the key of another one, or a key that can't sign in a
    ///   form.
    init(_ uses: [SignatureUse], _ secrets: [String: [UInt8]]) throws {
        var all: [(key: any Signer, form: SignatureForm)] = []
        for use in uses {
            guard let bytes = secrets[use.secret] else {
                throw DeliveryProblem(
                    .refused, "secret \(use.secret) is not given to this run: only merged code is signed")
            }
            let key: any Signer
            do { key = try Self.key(String(decoding: bytes, as: UTF8.self)) } catch {
                throw DeliveryProblem(.refused, "secret \(use.secret): \(error)")
            }
            let usual: SignatureForm = key.publicKey.algorithm == .ed25519 ? .minisign : .cosign
            for form in use.forms where form != usual {
                throw DeliveryProblem(
                    .invalid,
                    "the key in secret \(use.secret) can't sign as \(form.rawValue), which takes "
                        + (form == .minisign ? "Ed25519" : "ECDSA on P-256"))
            }
            // Signatures are told apart by the ids of their keys.
            guard !all.contains(where: { $0.key.publicKey.id == key.publicKey.id }) else {
                throw DeliveryProblem(
                    .invalid,
                    "the key in secret \(use.secret) has the id \(key.publicKey.id), as another one that signs: remove one "
                        + "of them")
            }
            all.append((key, usual))
        }
        self.all = all
    }

    var keys: [any Signer] { all.map(\.key) }

    /// A key in the secret itself, or the command that reaches one elsewhere. Who sets secrets decides about commands of
    /// this machine, so no workflow can name one.
    private static func key(_ text: String) throws(SigningError) -> any Signer {
        if let command = try CommandSigner(text, run: { try await run($0, $1) }) { return command }
        return try PrivateKey(text)
    }

    private static func run(_ command: [String], _ input: [UInt8]) async throws -> [UInt8] {
        let tool = DeliveryTool(name: command[0], deadline: .seconds(60))
        let (code, output) = try await tool.bytes(Array(command.dropFirst()), input: input)
        guard code == 0 else {
            let said = DeliveryTool.lastLine(String(decoding: output, as: UTF8.self))
            throw DeliveryProblem(.refused, "\(command[0]), which signs, failed with code \(code): \(said)")
        }
        return output
    }
}
