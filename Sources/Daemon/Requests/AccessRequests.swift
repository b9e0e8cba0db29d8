import Listening
import Control
import DaemonLog
import Forges
import Foundation
import Logging
import Pages
import Results
import Store
import TerminalText

/// Answers requests about who may see the pages and act there.
struct AccessRequests: Sendable {
    private static let mostTokens = 1_000

    let index: Store.Index
    /// Links that log browsers in, which the pages know, too.
    let links: OneTimeLinks
    let listen: ListenSettings
    let log: Logger

    /// The reply to such a request; nil for other requests.
    func reply(to request: DaemonRequest, by caller: Caller) async throws -> DaemonReply? {
        switch request {
        case .createToken(let wanted): return try await create(wanted, by: caller)
        case .tokens: return .tokens(try await index.accessTokens().compactMap(TokenStatus.init))
        case .revokeToken(let name): return .completed(try await revoke(name, by: caller))
        case .pagesLink: return .pagesLink(try link(for: caller))
        default: return nil
        }
    }

    private func create(_ wanted: TokenRequest, by caller: Caller) async throws -> DaemonReply {
        guard (1...100).contains(wanted.name.utf8.count), TerminalText.name(wanted.name) == wanted.name else {
            throw RequestError(.badToken, "the name of a token has 1 to 100 characters that can be seen")
        }
        guard wanted.expiresAt.map({ $0 > Date() }) ?? true else {
            throw RequestError(.badToken, "the token would have expired already")
        }
        guard try await index.accessTokens().count < Self.mostTokens else {
            throw RequestError(
                .badToken, "there are \(Self.mostTokens) tokens; `pipectl token revoke NAME` makes room for new ones")
        }
        let text = AccessTokenText()
        let record = AccessTokenRecord(
            name: wanted.name, id: text.id, scope: wanted.scope.rawValue, digest: text.digest, createdAt: Date(),
            expiresAt: wanted.expiresAt)
        guard try await index.addAccessToken(record), let status = TokenStatus(record) else {
            throw RequestError(
                .badToken,
                "there is a token \"\(wanted.name)\" already; choose another name, or revoke that one first")
        }
        log.notice(
            "\(caller.name) made the token \(wanted.name), which may \(wanted.scope.rawValue)",
            metadata: .code(.pagesLogin))
        return .token(text.text, status)
    }

    private func revoke(_ name: String?, by caller: Caller) async throws -> CompletedAction {
        let sessions: Int
        if let name {
            guard let ended = try await index.removeAccessToken(name) else {
                throw RequestError(.badToken, "there is no token \"\(name)\"; `pipectl token list` lists them")
            }
            sessions = ended
        } else {
            sessions = try await index.removeAccessSessions(nil)
        }
        log.notice(
            "\(caller.name) revoked \(name.map { "the token \($0)" } ?? "all sessions")", metadata: .code(.pagesLogin))
        return .revokedToken(name, sessions: sessions)
    }

    /// A link for the user at the other end of the socket, who may do everything by commands, too. Steps can't reach the
    /// socket: it is a file in the state folder, which is in no sandbox.
    private func link(for caller: Caller) throws -> String {
        guard listen.showsPages, let options = try listen.options(), options.address.port != 0 else {
            throw RequestError(
                .noPages, "no pages are shown; start `pipectl watch` with --listen 8787, and without --no-pages")
        }
        return "\(options.root)/login/\(links.make(for: caller.name))"
    }
}

extension TokenStatus {
    /// Nil for a token of a newer version.
    fileprivate init?(_ record: AccessTokenRecord) {
        guard let scope = TokenScope(rawValue: record.scope) else { return nil }
        self.init(
            name: record.name, id: record.id, scope: scope, createdAt: record.createdAt, expiresAt: record.expiresAt,
            lastUsedAt: record.lastUsedAt)
    }
}
