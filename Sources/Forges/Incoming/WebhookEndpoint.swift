public import ForgeConnection
import Crypto
public import Foundation
import Synchronization

/// Which repositories webhooks are heard for, and what becomes of a delivery. It knows no HTTP.
public final class WebhookEndpoint: Sendable {
    /// Bytes of a delivery. Forges send more only for pushes of thousands of commits, which the next poll finds.
    static let mostBytes = 1 << 20

    /// A repository that deliveries may be about.
    struct Target: Sendable {
        var kind: ForgeKind
        /// Owner and name at the forge.
        var project: String
        var inbox: ForgeInbox
        /// Told when refs may have moved: at once, before anything is fetched.
        var look: @Sendable () -> Void
    }

    /// What a delivery is answered with.
    struct Answer: Sendable, Equatable {
        /// The HTTP status.
        var status: Int
        /// For whoever reads the forge's list of deliveries.
        var text: String
    }

    private let targets = Mutex<[String: Target]>([:])
    private let secrets: ForgeCredentialStore
    private let now: @Sendable () -> Date

    /// - Parameter secrets: Where the secrets of webhooks are kept.
    public init(secrets: ForgeCredentialStore, now: @escaping @Sendable () -> Date = { Date() }) {
        (self.secrets, self.now) = (secrets, now)
    }

    /// Replaces the repositories that deliveries may be about.
    func serve(_ targets: [String: Target]) { self.targets.withLock { $0 = targets } }

    func target(_ repository: String) -> Target? { targets.withLock { $0[repository] } }

    /// The answer to a request that is refused whatever its body says; nil to go on and read the body.
    ///
    /// - Parameters:
    ///   - path: As the request has it.
    ///   - headers: By their names in lower case.
    func refusal(method: String, path: String, headers: [String: String]) -> Answer? {
        guard repository(path) != nil else { return Answer(status: 404, text: "webhooks go to /hooks/REPOSITORY") }
        guard method == "POST" else { return Answer(status: 405, text: "send a POST") }
        let type = headers["content-type"]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
        guard type?.lowercased() == "application/json" else {
            return Answer(status: 415, text: "choose the content type application/json for the webhook")
        }
        if let length = headers["content-length"], Int(length).map({ $0 > Self.mostBytes }) ?? true {
            return Self.tooLarge
        }
        return nil
    }

    static let tooLarge = Answer(
        status: 413,
        text: "deliveries may have \(WebhookEndpoint.mostBytes >> 10) KiB; the next poll finds what it says")

    /// Checks and takes one delivery.
    func answer(path: String, headers: [String: String], body: Data) -> Answer {
        guard body.count <= Self.mostBytes else { return Self.tooLarge }
        // Who may not know the secret does not learn which repositories there are either.
        let refusal = Answer(status: 401, text: "the signature does not hold")
        guard let name = repository(path), let target = target(name),
            let secret = try? secrets.webhookSecret(for: name),
            WebhookSignature(kind: target.kind, secret: secret, now: now).holds(for: body, headers: headers)
        else { return refusal }
        let digest = Data(SHA256.hash(data: body))
        let key = digest.prefix(16).map { String(format: "%02x", $0) }.joined()
        let hint: ForgeHint
        do {
            hint = try ForgeHint(body, kind: target.kind, project: target.project, key: key)
        } catch {
            return Answer(status: 400, text: "the delivery can't be read")
        }
        // The delivery's id stands in a header that nobody signs: what it says is remembered, too.
        let id = ["x-github-delivery", "webhook-id", "x-gitlab-event-uuid", "x-forgejo-delivery", "x-gitea-delivery"]
            .lazy.compactMap { headers[$0] }.first { !$0.isEmpty && $0.utf8.count <= 200 }
        let codes = [digest] + [id.map { Data(SHA256.hash(data: Data("id \($0)".utf8))) }].compactMap { $0 }
        switch target.inbox.take(hint, codes: codes) {
        case .known: return Answer(status: 202, text: "known")
        case .full: return Answer(status: 503, text: "too much waits; deliver it again later")
        case .taken: break
        }
        switch hint {
        case .nothing: return Answer(status: 202, text: "of no concern")
        case .refs, .change: target.look()
        case .comment, .issue, .button: break
        }
        return Answer(status: 202, text: "taken")
    }

    /// The repository that a path names: `/hooks/NAME`, percent-encoded.
    private func repository(_ path: String) -> String? {
        let path = path.prefix { $0 != "?" }
        guard path.hasPrefix("/hooks/"), path.utf8.count <= 2_000 else { return nil }
        let name = String(path.dropFirst("/hooks/".count))
        guard !name.isEmpty, !name.contains("/") else { return nil }
        return name.removingPercentEncoding
    }
}
