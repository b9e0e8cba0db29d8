import Crypto
package import Foundation

/// What a webhook of App Store Connect tells: where to look. What is true is fetched.
package enum AppStoreNotice: Sendable, Equatable {
    /// A tester sent something.
    case feedback(TestFlightSubmission.Kind, id: String)
    /// Nothing of concern.
    case nothing

    /// Reads a delivery whose signature holds; nil if it is none of Apple's.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreconnectapi/webhook-events
    package init?(_ body: Data) {
        struct Delivery: Decodable {
            var data: Content
            struct Content: Decodable {
                var type: String
                var relationships: Relationships?
            }
            struct Relationships: Decodable { var instance: Instance? }
            struct Instance: Decodable { var data: Reference? }
            struct Reference: Decodable {
                var type: String
                var id: String
            }
        }
        guard let delivery = try? JSONDecoder().decode(Delivery.self, from: body) else { return nil }
        guard
            ["betaFeedbackCrashSubmissionCreated", "betaFeedbackScreenshotSubmissionCreated"]
                .contains(delivery.data.type),
            let instance = delivery.data.relationships?.instance?.data,
            let kind = TestFlightSubmission.Kind(rawValue: instance.type),
            TestFlightSubmission.isIdentifier(instance.id)
        else {
            self = .nothing
            return
        }
        self = .feedback(kind, id: instance.id)
    }

    /// Whether `body` was sent by who knows the secret; compared in constant time.
    ///
    /// - Parameter header: `x-apple-signature`, as in `hmacsha256=0a1b…`.
    package static func isSigned(_ body: Data, _ header: String?, secret: String) -> Bool {
        let prefix = "hmacsha256="
        guard !secret.isEmpty, let header, header.hasPrefix(prefix), header.utf8.count == prefix.utf8.count + 64 else {
            return false
        }
        var code = Data()
        var digits = header.dropFirst(prefix.count)
        while !digits.isEmpty {
            guard let byte = UInt8(digits.prefix(2), radix: 16), digits.prefix(2).allSatisfy(\.isHexDigit) else {
                return false
            }
            code.append(byte)
            digits = digits.dropFirst(2)
        }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: body, using: SymmetricKey(data: Data(secret.utf8)))
    }
}
