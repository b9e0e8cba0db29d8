import ForgeConnection
import Crypto
import Foundation

/// Checks that a delivery comes from the forge, before anything in it is read.
///
/// Sources: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries,
/// https://docs.gitlab.com/user/project/integrations/webhooks/, https://docs.gitea.com/usage/webhooks and
/// https://www.standardwebhooks.com for GitLab's signing token.
struct WebhookSignature: Sendable {
    /// How far the time of a signed delivery may be from ours, in seconds.
    static let tolerance = 300.0

    let kind: ForgeKind
    let secret: WebhookSecret
    var now: @Sendable () -> Date = { Date() }

    /// Whether `body` was sent by who knows the secret. Secrets and codes are compared in constant time.
    ///
    /// - Parameter headers: By their names in lower case.
    func holds(for body: Data, headers: [String: String]) -> Bool {
        switch kind {
        case .github: hex(headers["x-hub-signature-256"], prefix: "sha256=", of: body)
        case .gitea: hex(headers["x-gitea-signature"], prefix: "", of: body)
        // Forgejo signs with both names; the newer one decides where it is there.
        case .forgejo: hex(headers["x-forgejo-signature"] ?? headers["x-gitea-signature"], prefix: "", of: body)
        case .gitlab: gitlab(headers, body)
        }
    }

    private func hex(_ header: String?, prefix: String, of body: Data) -> Bool {
        guard let header, header.utf8.count == prefix.utf8.count + 64, header.hasPrefix(prefix) else { return false }
        guard let code = Self.bytes(hex: header.dropFirst(prefix.count)) else { return false }
        return isCode(code, of: body, key: Data(secret.text.utf8))
    }

    /// A signature counts where there is one; a token in the clear is what older servers have.
    private func gitlab(_ headers: [String: String], _ body: Data) -> Bool {
        if let signatures = headers["webhook-signature"] {
            guard let id = headers["webhook-id"], let stamp = headers["webhook-timestamp"], id.utf8.count <= 200,
                let seconds = Double(stamp), abs(now().timeIntervalSince1970 - seconds) <= Self.tolerance
            else { return false }
            let message = Data("\(id).\(stamp).".utf8) + body
            return signatures.split(separator: " ").prefix(10).contains { signature in
                guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
                    return false
                }
                return keys.contains { isCode(code, of: message, key: $0) }
            }
        }
        guard let token = headers["x-gitlab-token"] else { return false }
        // Codes of both under a key of this moment: their comparison takes the same time whatever differs.
        let key = SymmetricKey(size: .bits256)
        let code = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(secret.text.utf8), using: key)
    }

    /// A secret of the form `whsec_…` stands for the bytes that its end has in Base64.
    private var keys: [Data] {
        let text = secret.text
        let decoded = text.hasPrefix("whsec_") ? Data(base64Encoded: String(text.dropFirst(6))) : nil
        return [Data(text.utf8)] + [decoded].compactMap { $0 }
    }

    private func isCode(_ code: Data, of message: Data, key: Data) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: SymmetricKey(data: key))
    }

    private static func bytes(hex: some StringProtocol) -> Data? {
        let digits = Array(hex.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        case 0x41...0x46: digit - 0x41 + 10
        default: nil
        }
    }
}
