public import Control
import Foundation

/// Who may see the pages and act there, as the settings say.
public struct PagesOptions: Sendable {
    /// The address that people type, without a slash at the end: `http://127.0.0.1:8787`.
    public var root: String
    /// Whether programs of this machine read without a login: nobody else reaches the pages.
    public var isOpen: Bool
    /// The header in which a trusted proxy names who asks.
    public var userHeader = "X-Forwarded-User"
    /// Who of those that a proxy names may act.
    public var operators: [String] = []
    /// How many may follow live pages and logs at the same time.
    public var mostFollowers = 10_000

    public init(root: String, isOpen: Bool) { (self.root, self.isOpen) = (root, isOpen) }

    /// Whether browsers reach them encrypted.
    var isSecure: Bool { root.hasPrefix("https://") }

    /// The name of the session's cookie. Browsers send cookies to all ports of a host, so two daemons of a machine have
    /// different names.
    var cookie: String {
        isSecure ? "__Host-pipectl" : "pipectl-\(URL(string: root)?.port.map(String.init) ?? "80")"
    }
}

/// Somebody who logged in at a forge.
public struct SignedIn: Sendable {
    /// In words: `@ada at GitHub`.
    public var name: String
    /// Whether they may act; others may read.
    public var mayOperate: Bool

    public init(name: String, mayOperate: Bool) { (self.name, self.mayOperate) = (name, mayOperate) }
}

/// The sign-in of a forge: OAuth 2 with PKCE. https://www.rfc-editor.org/rfc/rfc7636
public protocol PagesSignIn: Sendable {
    /// The forge's name for people: `GitHub`.
    var title: String { get }

    /// Where the browser is sent.
    ///
    /// - Parameters:
    ///   - state: Comes back with the code.
    ///   - challenge: The code challenge by SHA-256.
    ///   - redirect: Where the forge sends the browser then.
    func address(state: String, challenge: String, redirect: String) -> String

    /// Who has logged in; nil for somebody who may not see the repositories that are connected.
    ///
    /// - Throws: Why the forge can't tell, as a sentence.
    func person(code: String, verifier: String, redirect: String) async throws -> SignedIn?
}

/// What the pages can do besides showing, and for whom.
public struct PagesControls: Sendable {
    public var options: PagesOptions
    /// Links that log a browser in.
    public var links: OneTimeLinks
    /// The first reply to a request that acts, for somebody whose name is in words.
    public var act: @Sendable (DaemonRequest, _ person: String) async throws -> DaemonReply
    /// The sign-in of a connected forge; nil where there is none.
    public var signIn: @Sendable () async -> (any PagesSignIn)?
    /// The Swift files below `workflows/` of a repository's target, by their paths in the repository.
    public var definition: @Sendable (_ repository: String) async throws -> [String: String]

    public init(
        options: PagesOptions, links: OneTimeLinks,
        act: @escaping @Sendable (DaemonRequest, _ person: String) async throws -> DaemonReply,
        signIn: @escaping @Sendable () async -> (any PagesSignIn)?,
        definition: @escaping @Sendable (_ repository: String) async throws -> [String: String]
    ) {
        (self.options, self.links) = (options, links)
        (self.act, self.signIn, self.definition) = (act, signIn, definition)
    }
}
