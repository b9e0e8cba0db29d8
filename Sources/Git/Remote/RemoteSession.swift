import CGit
import Foundation

/// The state of one connection between libgit2's callbacks: credentials left to offer, progress, refused refs.
///
/// No certificate callback is installed, so libgit2's own check of host keys and certificates applies.
final class RemoteSession {
    private let url: String
    private let progress: ((TransferProgress) -> Void)?
    private var offers: CredentialOffers
    private var refusals: [String] = []
    private var failure: GitError?

    init(url: String, progress: ((TransferProgress) -> Void)?) {
        self.url = url
        self.progress = progress
        offers = CredentialOffers(url: url)
    }

    /// Points the callbacks at this session, which must exist until the call has returned.
    func install(in callbacks: inout git_remote_callbacks) {
        callbacks.payload = Unmanaged.passUnretained(self).toOpaque()
        callbacks.credentials = { out, url, user, allowed, payload in
            guard let payload, let out else { return GIT_EAUTH.rawValue }
            return RemoteSession.from(payload).offer(
                out, url: url.map { String(cString: $0) } ?? "", user: user.map { String(cString: $0) },
                allowed: allowed)
        }
        callbacks.transfer_progress = { stats, payload in
            guard let payload, let stats = stats?.pointee else { return 0 }
            RemoteSession.from(payload).progress?(
                TransferProgress(
                    receivedObjects: Int(stats.received_objects), totalObjects: Int(stats.total_objects),
                    receivedBytes: stats.received_bytes))
            return 0
        }
        callbacks.push_update_reference = { name, status, payload in
            guard let payload, let name, let status else { return 0 }
            RemoteSession.from(payload).refusals.append("\(String(cString: name)): \(String(cString: status))")
            return 0
        }
    }

    /// Runs the call that uses the callbacks, and turns what they recorded into its error.
    func run(_ call: String, _ body: () -> Int32) throws(GitError) {
        do {
            try withExtendedLifetime(self) { () throws(GitError) in _ = try git(call, body) }
        } catch {
            if let failure { throw failure }
            throw GitError(
                call: call, code: error.code,
                message: "\"\(Self.withoutSecrets(url))\": \(error.message ?? "no reason given")")
        }
        guard let first = refusals.first else { return }
        throw GitError(
            call: call, code: .nonFastForward,
            message: "\"\(Self.withoutSecrets(url))\" refused \(first). Fetch, then push what follows from it.")
    }

    private func offer(
        _ out: UnsafeMutablePointer<UnsafeMutablePointer<git_credential>?>, url: String, user: String?, allowed: UInt32
    ) -> Int32 {
        // libgit2 asks again until a credential works. Each is offered once, so this ends.
        while let credential = offers.next(url: url, user: user, allowed: allowed) {
            if credential.make(out) == 0 { return 0 }
            git_error_clear()
        }
        failure = GitError(
            call: "credentials", code: .auth,
            message: "\"\(Self.withoutSecrets(url))\" accepted none of the credentials found here (\(offers.tried)).")
        return GIT_EAUTH.rawValue
    }

    private static func from(_ payload: UnsafeMutableRawPointer) -> RemoteSession {
        Unmanaged<RemoteSession>.fromOpaque(payload).takeUnretainedValue()
    }

    /// The URL without a password or token, for logs.
    static func withoutSecrets(_ url: String) -> String {
        guard let scheme = url.range(of: "://") else { return url }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<scheme.upperBound] + url[url.index(after: at)...])
    }
}
