import SwiftSyntax

/// The names in a body: how often each occurs, and which are functions that the body declares.
struct BodyNames {
    private var mentions: [String: Int] = [:]
    private var functions: Set<String> = []

    init(in body: CodeBlockSyntax) {
        var isFunction = false
        for token in body.tokens(viewMode: .sourceAccurate) {
            if case .identifier = token.tokenKind {
                mentions[token.plainText, default: 0] += 1
                if isFunction { functions.insert(token.plainText) }
            }
            isFunction = token.tokenKind == .keyword(.func)
        }
    }

    func count(of name: String) -> Int { mentions[name, default: 0] }

    /// Whether the body declares a function of this name: its assertions count at its declaration, not at the calls.
    func isOwnFunction(_ name: String) -> Bool { functions.contains(name) }
}
