/// The credential for a forge. Neither logs nor errors ever show it.
public enum ForgeCredential: Sendable, Equatable {
    /// A personal, project or application token.
    case token(String)
    /// A GitHub App: its id (or client id) and its private key in PEM.
    case app(id: String, privateKey: String)

    /// The stored form: one line for a token; for an App a line with its id, then the key.
    public var text: String {
        switch self {
        case .token(let token): token
        case .app(let id, let key): "app \(id)\n\(key)"
        }
    }

    /// Reads ``text``.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential`; its sentence contains nothing of the credential.
    public init(text: String) throws {
        let trimmed = text.trimmingPrefix { $0.isWhitespace }
        if trimmed.hasPrefix("app "), let end = trimmed.firstIndex(where: \.isNewline) {
            let id = trimmed[trimmed.index(trimmed.startIndex, offsetBy: 4)..<end].filter { !$0.isWhitespace }
            let key = String(trimmed[trimmed.index(after: end)...])
            guard Self.isToken(id), key.contains("-----BEGIN"), key.contains("PRIVATE KEY-----") else {
                throw ForgeError(
                    .badCredential, "the App's private key is not in PEM; use the .pem file that GitHub gave, unchanged"
                )
            }
            self = .app(id: String(id), privateKey: key)
            return
        }
        let token = text.filter { !$0.isWhitespace }
        guard Self.isToken(token), token.utf8.count >= 8 else {
            throw ForgeError(.badCredential, "the token is empty or contains characters that no token has")
        }
        self = .token(token)
    }

    /// Whether the text can be in a header: printable ASCII without spaces.
    private static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= 4_096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension ForgeCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .token: "a token"
        case .app(let id, _): "the GitHub App \(id)"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
