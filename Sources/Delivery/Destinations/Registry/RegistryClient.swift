import AsyncHTTPClient
import ForgeConnection
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// An answer of a registry.
struct RegistryAnswer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data
}

/// Requests to one repository of an OCI registry, with Basic or Bearer authorization as the registry wants it.
///
/// Source: https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md and
/// https://distribution.github.io/distribution/spec/auth/token/
final class RegistryClient: Sendable {
    private static let mostBytes = 4 << 20

    /// Scheme, host and port.
    let origin: String
    /// The path of the repository, below `/v2/`.
    let name: String
    private let http: HTTPClient
    /// `USER:PASSWORD`.
    private let credentials: String?
    private let authorization = Mutex<String?>(nil)

    /// - Throws: ``DeliveryProblem`` with `.invalid`.
    init(_ repository: String, credentials: [UInt8]?, http: HTTPClient) throws {
        guard let url = URL(string: repository), let host = url.host(percentEncoded: false), url.user == nil,
            url.query == nil, url.scheme == "https" || (url.scheme == "http" && Self.isLoopback(host))
        else {
            throw DeliveryProblem(
                .invalid, "\"\(PublishedName.shown(repository))\" is not a repository; write https://HOST/OWNER/NAME")
        }
        let path = url.path(percentEncoded: false).split(separator: "/").joined(separator: "/")
        let part = #"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"#
        guard path.range(of: "^\(part)(?:/\(part))*$", options: .regularExpression) != nil else {
            throw DeliveryProblem(
                .invalid, "\"\(PublishedName.shown(path))\" can't be a repository's name; write it in lower case")
        }
        origin = "\(url.scheme ?? "https")://\(host)\(url.port.map { ":\($0)" } ?? "")"
        name = path
        self.http = http
        let text = credentials.map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        if let text, !text.contains(":") {
            throw DeliveryProblem(.refused, "the secret for \(host) is not USER:PASSWORD; store it again")
        }
        self.credentials = text.map { Data($0.utf8).base64EncodedString() }
    }

    private static func isLoopback(_ host: String) -> Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }

    /// An address below the repository.
    func address(_ path: String) -> String { "\(origin)/v2/\(name)/\(path)" }

    /// A `Location` as an absolute address of the registry itself: credentials get to no other host.
    func resolved(_ location: String?, from base: String) throws -> String {
        guard let location, let url = URL(string: location, relativeTo: URL(string: base))?.absoluteURL,
            let own = URL(string: origin), url.host(percentEncoded: false) == own.host(percentEncoded: false)
        else {
            throw DeliveryProblem(.invalid, "the registry sends the upload to another host, which is not followed")
        }
        // Behind a proxy, a registry may not know by which scheme and port it is reached.
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        parts.scheme = own.scheme
        parts.port = own.port
        return parts.string ?? url.absoluteString
    }

    /// Sends a request, with authorization if the registry asks for it. Any status below 500 but 401, 403 and 429 is an
    /// answer.
    func send(
        _ method: HTTPMethod, _ address: String, headers: [(String, String)] = [], body: FileBytes? = nil,
        bytes: [UInt8]? = nil
    ) async throws -> RegistryAnswer {
        let answer = try await once(method, address, headers, body, bytes)
        guard answer.status == 401 else { return try checked(answer) }
        try await authorize(answer)
        return try checked(try await once(method, address, headers, body, bytes))
    }

    private func checked(_ answer: RegistryAnswer) throws -> RegistryAnswer {
        let said = Self.message(answer.body)
        switch answer.status {
        case 401, 403:
            throw DeliveryProblem(
                .refused,
                "\(origin) does not let the credentials write \(name)\(said); check the secret with USER:PASSWORD")
        case 429, 500...:
            throw ForgeError(
                answer.status == 429 ? .rateLimited : .unavailable,
                "\(origin) can't answer now: \(answer.status)\(said)",
                status: answer.status,
                retryAt: answer.headers.first(name: "retry-after").flatMap(Double.init).map {
                    Date().addingTimeInterval(min(max($0, 1), 7_200))
                })
        default: return answer
        }
    }

    private func once(
        _ method: HTTPMethod, _ address: String, _ headers: [(String, String)], _ body: FileBytes?, _ bytes: [UInt8]?
    ) async throws -> RegistryAnswer {
        var message = HTTPClientRequest(url: address)
        message.method = method
        message.headers.add(name: "User-Agent", value: "pipectl")
        for (name, value) in headers { message.headers.add(name: name, value: value) }
        if let value = authorization.withLock({ $0 }) { message.headers.add(name: "Authorization", value: value) }
        if let body { message.body = .stream(body, length: .known(Int64(body.count))) }
        if let bytes { message.body = .bytes(bytes) }
        let time = TimeAmount.seconds(60 + Int64((body?.count ?? 0) >> 17))
        do {
            let response = try await http.execute(message, timeout: time)
            let data = method == .HEAD ? ByteBuffer() : try await response.body.collect(upTo: Self.mostBytes)
            return RegistryAnswer(
                status: Int(response.status.code), headers: response.headers, body: Data(data.readableBytesView))
        } catch {
            try Task.checkCancellation()
            let words = (error as? HTTPClientError)?.shortDescription ?? "\(error)"
            throw DeliveryProblem(.unreachable, "no answer from \(origin): \(PublishedName.shown(words))")
        }
    }

    /// Gets what the registry asks for in `WWW-Authenticate`.
    private func authorize(_ answer: RegistryAnswer) async throws {
        let wanted = answer.headers["www-authenticate"].joined(separator: ", ")
        if wanted.lowercased().hasPrefix("basic") {
            guard let credentials else {
                throw DeliveryProblem(
                    .refused, "\(origin) wants a user; name the secret with USER:PASSWORD as credentials:")
            }
            authorization.withLock { $0 = "Basic \(credentials)" }
            return
        }
        guard wanted.lowercased().hasPrefix("bearer"), let realm = Self.parameter("realm", wanted),
            var address = URLComponents(string: realm), let host = address.host,
            address.scheme == "https" || (Self.isLoopback(host) && origin.hasPrefix("http://"))
        else {
            throw DeliveryProblem(.invalid, "\(origin) asks for an authorization that is neither Basic nor Bearer")
        }
        var query = address.queryItems ?? []
        if let service = Self.parameter("service", wanted) {
            query.append(URLQueryItem(name: "service", value: service))
        }
        query.append(URLQueryItem(name: "scope", value: "repository:\(name):pull,push"))
        address.queryItems = query
        authorization.withLock { $0 = credentials.map { "Basic \($0)" } }
        let token = try await once(.GET, address.string ?? realm, [], nil, nil)
        authorization.withLock { $0 = nil }
        struct Token: Decodable { var token: String?, access_token: String? }
        let found = try? JSONDecoder().decode(Token.self, from: token.body)
        guard try checked(token).status == 200, let text = found?.token ?? found?.access_token,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw DeliveryProblem(.refused, "\(host) gives no token for \(name); check the secret with USER:PASSWORD")
        }
        authorization.withLock { $0 = "Bearer \(text)" }
    }

    private static func parameter(_ name: String, _ header: String) -> String? {
        guard let start = header.range(of: "\(name)=\"", options: .caseInsensitive) else { return nil }
        return String(header[start.upperBound...].prefix { $0 != "\"" })
    }

    /// The registry's own words, for a message.
    static func message(_ body: Data) -> String {
        struct Found: Decodable {
            var errors: [One]
            struct One: Decodable { var code: String?, message: String? }
        }
        guard let one = (try? JSONDecoder().decode(Found.self, from: body))?.errors.first else { return "" }
        return " (\(PublishedName.shown([one.code, one.message].compactMap { $0 }.joined(separator: ": "))))"
    }
}
