import AsyncHTTPClient
import Foundation
package import ForgeConnection
package import Store

/// The connection of a repository with its forge.
package struct ForgeAccess: Sendable {
    let address: ForgeAddress
    let credential: ForgeCredential

    package init(address: ForgeAddress, credential: ForgeCredential) {
        self.address = address
        self.credential = credential
    }

    /// The connection of the repository `name`.
    ///
    /// - Throws: ``DeliveryProblem`` with `.refused` where there is none; errors of the store.
    package init(of name: String, in index: Store.Index, _ credentials: ForgeCredentialStore) async throws {
        do {
            guard let record = try await index.forges().first(where: { $0.repository == name }) else {
                throw DeliveryProblem(
                    .refused, "\(name) is not connected with a forge; run `pipectl forge connect URL`")
            }
            guard let (credential, _) = try credentials.credential(for: name) else {
                throw DeliveryProblem(
                    .refused, "\(name) has no credential for its forge; run `pipectl forge connect URL`")
            }
            self.init(address: try ForgeAddress(json: record.address), credential: credential)
        } catch let error as ForgeError { throw DeliveryProblem(.refused, error.description) }
    }

    /// Runs `body` with a session, whose connections are closed afterwards.
    func use<Value: Sendable>(_ body: (ForgeSession) async throws -> Value) async throws -> Value {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let value = try await body(try ForgeSession(address, credential, http: http))
            try? await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}

extension ForgeSession {
    /// The answer; nil where there is nothing at the path.
    func found<Value: Decodable & Sendable>(_ path: String, _ type: Value.Type) async throws -> Value? {
        do { return try await send(.get(path)).decode(type) } catch let error as ForgeError
            where error.code == .notFound
        {
            return nil
        }
    }

    /// Deletes what is at the path, which an earlier attempt may have done.
    func delete(_ path: String) async throws {
        do { _ = try await send(ForgeRequest(method: .delete, path: path)) } catch let error as ForgeError
            where error.code == .notFound
        {
            // An earlier attempt deleted it, and its answer was lost.
        }
    }

    /// Whether `text` is an address of the forge itself, to which the credential may be sent.
    func isOwn(_ text: String) -> Bool {
        guard let found = Self.origin(text) else { return false }
        return found == Self.origin(address.web) || found == Self.origin(address.api)
            || (address.api == "https://api.github.com" && found == "https://uploads.github.com")
    }

    private static func origin(_ text: String) -> String? {
        guard let scheme = text.range(of: "://") else { return nil }
        let rest = text[scheme.upperBound...]
        let host = rest.prefix { !"/?#".contains($0) }
        guard !host.isEmpty, !host.contains("@"), !host.contains("\\") else { return nil }
        return "\(text[..<scheme.lowerBound])://\(host)".lowercased()
    }
}

/// The part of a release's description by which a publisher recognises what it has made.
struct ReleaseMark {
    /// GitHub takes 125,000 characters.
    static let mostNotes = 120_000
    let text: String

    init(_ release: ReleaseContent) {
        text = "<!-- pipectl release \(release.version) of \(release.commit) -->"
    }

    func body(_ notes: String) -> String { "\(notes.prefix(Self.mostNotes))\n\n\(text)" }
}
