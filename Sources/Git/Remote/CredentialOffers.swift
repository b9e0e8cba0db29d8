import CGit
import Foundation

/// The credentials for one connection, each of which is offered once.
///
/// SSH: the agent, then `~/.ssh/id_ed25519`, `id_ecdsa`, `id_rsa` (without passphrase). https: those of
/// ``TokenSource``. No secret is sent over http, or to a host other than the one in the URL.
struct CredentialOffers {
    private let host: String?
    private let environment: [String: String]
    private let home: String
    private var waiting: [Credential]?
    private var names: [String] = []
    private var toldUser = false

    init(
        url: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        home: String? = ProcessInfo.processInfo.environment["HOME"]
    ) {
        host = Self.host(of: url)
        self.environment = environment
        self.home = home ?? "/nonexistent"
    }

    /// The names of the credentials that were offered, or "none", for an error.
    var tried: String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    /// The next credential; nil if all were offered.
    mutating func next(url: String, user: String?, allowed: UInt32) -> Credential? {
        guard Self.host(of: url) == host else { return nil }
        if allowed & GIT_CREDENTIAL_USERNAME.rawValue != 0, !toldUser {
            toldUser = true
            return .user(user ?? "git")
        }
        var rest = waiting ?? candidates(url: url, user: user, allowed: allowed)
        let next = rest.isEmpty ? nil : rest.removeFirst()
        waiting = rest
        if let next { names.append(next.name) }
        return next
    }

    private func candidates(url: String, user: String?, allowed: UInt32) -> [Credential] {
        if allowed & GIT_CREDENTIAL_SSH_KEY.rawValue != 0 {
            let user = user ?? "git"
            let agent = environment["SSH_AUTH_SOCK"].map { _ in Credential.agent(user: user) }
            return [agent].compactMap { $0 } + keys(user: user)
        }
        guard allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT.rawValue != 0, url.hasPrefix("https://"), let host else {
            return []
        }
        return TokenSource(environment: environment, home: home).credentials(host: host, user: user)
    }

    private func keys(user: String) -> [Credential] {
        ["id_ed25519", "id_ecdsa", "id_rsa"].compactMap { name in
            let path = "\(home)/.ssh/\(name)"
            guard FileManager.default.isReadableFile(atPath: path) else { return nil }
            let hasPublic = FileManager.default.isReadableFile(atPath: path + ".pub")
            return .key(user: user, privateKey: path, publicKey: hasPublic ? path + ".pub" : nil)
        }
    }

    /// The host, with its port, of a URL or of SSH's `user@host:path` form.
    static func host(of url: String) -> String? {
        if let scheme = url.range(of: "://") {
            let authority = url[scheme.upperBound...].prefix { $0 != "/" }
            return authority.split(separator: "@").last.map { $0.lowercased() }
        }
        return url.prefix { $0 != ":" }.split(separator: "@").last.map { $0.lowercased() }
    }
}
