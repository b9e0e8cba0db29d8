import Crypto
import Foundation

/// What a forge and pipectl know alone: deliveries that are not signed with it are refused. It is shown once, when a
/// repository is connected, and in no log.
public struct WebhookSecret: Sendable, Equatable {
    /// Printable ASCII, as forges take it.
    public let text: String

    /// A new one: 256 random bits.
    public init() {
        text = SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { String(format: "%02x", $0) }.joined()
        }
    }

    /// Reads one that was kept, or that a person chose.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential`; the sentence holds nothing of it.
    public init(text: String) throws {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (16...1_024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ForgeError(
                .badCredential, "the webhook's secret must have 16 to 1,024 printable characters of ASCII")
        }
        self.text = text
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "a webhook's secret" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
