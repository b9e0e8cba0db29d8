package import AsyncHTTPClient
package import Foundation
package import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// A forge's answer with a status below 400.
package struct ForgeAnswer: Sendable {
    package var status: Int
    package var headers: [String: String]
    package var body: Data

    /// Decodes the body as JSON. The API's key `target_url` becomes `targetUrl`.
    ///
    /// - Throws: ``ForgeError`` with `.badAnswer`.
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(type, from: body)
        } catch {
            throw ForgeError(.badAnswer, "the forge's answer is not what its API describes", status: status)
        }
    }
}

/// One request to a forge: method, path below the API's root, query, and JSON body.
package struct ForgeRequest: Sendable {
    package var method: Method
    /// The path below the root, beginning with a slash. Use ``ForgeRequest/part(_:)`` for untrusted components.
    package var path: String
    package var query: [String: String] = [:]
    package var body: Data?
    /// Names the answer that is known: the forge answers 304 where it is still the same.
    package var etag: String?
    /// A body that is streamed from a file, in place of ``body``.
    package var upload: ForgeUpload?
    /// The address, where it is not below the API's root. The credential goes there, so whoever sets it has checked it.
    package var address: String?

    package enum Method: String, Sendable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    package init(
        method: Method, path: String, query: [String: String] = [:], body: Data? = nil, etag: String? = nil,
        upload: ForgeUpload? = nil, address: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.etag = etag
        self.upload = upload
        self.address = address
    }

    package static func get(_ path: String, _ query: [String: String] = [:]) -> ForgeRequest {
        ForgeRequest(method: .get, path: path, query: query)
    }

    package static func send(
        _ method: Method, _ path: String, _ body: some Encodable,
        keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
    ) throws -> ForgeRequest {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = keys
        return ForgeRequest(method: method, path: path, body: try encoder.encode(body))
    }

    /// `text` as one component of a path.
    package static func part(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_.~")))
            ?? ""
    }
}

/// Sends requests to one forge's API and turns the answers into values or errors.
///
/// Each request has a deadline and each answer a size limit. Redirects are not followed, since the token must reach no
/// other host.
package struct ForgeClient: Sendable {
    /// The longest time from the start of a request to the last byte of its answer.
    package static let deadline = TimeAmount.seconds(20)
    /// The largest answer, in bytes.
    package static let mostBytes = 8 << 20

    package let root: String
    /// Headers of every request, such as `Accept`.
    package let headers: [(String, String)]
    package let http: HTTPClient
    package var now: @Sendable () -> Date = { Date() }

    package init(
        root: String, headers: [(String, String)], http: HTTPClient, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.root = root
        self.headers = headers
        self.http = http
        self.now = now
    }

    /// How all requests are sent: no redirects, bounded times and sizes.
    package static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(20)))
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.decompression = .enabled(limit: .size(mostBytes))
        return configuration
    }

    /// Sends `request` with `authorization` as the name and value of its header.
    ///
    /// - Throws: ``ForgeError``; `CancellationError`.
    package func send(_ request: ForgeRequest, authorization: (name: String, value: String)) async throws -> ForgeAnswer
    {
        try await send(request, and: [authorization])
    }

    /// Sends a request that needs no authorization, or has it in its body.
    package func send(_ request: ForgeRequest) async throws -> ForgeAnswer { try await send(request, and: []) }

    private func send(_ request: ForgeRequest, and more: [(name: String, value: String)]) async throws -> ForgeAnswer {
        var message = HTTPClientRequest(url: (request.address ?? root + request.path) + Self.query(request.query))
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for (name, value) in headers { message.headers.replaceOrAdd(name: name, value: value) }
        message.headers.replaceOrAdd(name: "User-Agent", value: "pipectl")
        for (name, value) in more { message.headers.replaceOrAdd(name: name, value: value) }
        if let etag = request.etag { message.headers.replaceOrAdd(name: "If-None-Match", value: etag) }
        if let body = request.body {
            message.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: body))
        }
        if let upload = request.upload {
            message.headers.replaceOrAdd(name: "Content-Type", value: upload.type)
            message.body = .stream(upload.content, length: .known(Int64(upload.content.count)))
        }
        let answer = try await execute(message, within: request.upload?.deadline ?? Self.deadline)
        if answer.status < 400, answer.status >= 200, answer.status < 300 || answer.status == 304 { return answer }
        throw error(answer, request)
    }

    private func execute(_ message: HTTPClientRequest, within time: TimeAmount) async throws -> ForgeAnswer {
        do {
            let response = try await http.execute(message, timeout: time)
            var headers: [String: String] = [:]
            for (name, value) in response.headers where headers[name.lowercased()] == nil {
                headers[name.lowercased()] = value
            }
            let body = try await response.body.collect(upTo: Self.mostBytes)
            return ForgeAnswer(status: Int(response.status.code), headers: headers, body: Data(body.readableBytesView))
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as ForgeError {
            throw error
        } catch is NIOTooManyBytesError {
            throw ForgeError(.badAnswer, "the forge's answer is larger than \(Self.mostBytes >> 20) MiB")
        } catch {
            try Task.checkCancellation()
            throw ForgeError(.unreachable, "no answer from \(host): \(Self.words(error))")
        }
    }

    private var host: String { URL(string: root)?.host(percentEncoded: false) ?? root }

    static func words(_ error: any Error) -> String {
        if let error = error as? HTTPClientError { return error.shortDescription }
        return String(String(describing: error).prefix(200))
    }

    private static func query(_ values: [String: String]) -> String {
        guard !values.isEmpty else { return "" }
        return "?"
            + values.sorted { $0.key < $1.key }
            .map { "\(ForgeRequest.part($0.key))=\(ForgeRequest.part($0.value))" }.joined(separator: "&")
    }

    // MARK: Errors

    private func error(_ answer: ForgeAnswer, _ request: ForgeRequest) -> ForgeError {
        let status = answer.status
        let said = "\(request.method.rawValue) \(request.path): \(status)\(Self.message(answer.body))"
        if let date = limitEnd(answer) {
            return ForgeError(
                .rateLimited, "the forge's limit of requests is reached; \(said)", status: status, retryAt: date)
        }
        let retryAt = retryAfter(answer)
        switch status {
        case 401: return ForgeError(.unauthorized, "the forge does not accept the credential; \(said)", status: status)
        case 403: return ForgeError(.forbidden, "the credential lacks a permission for this; \(said)", status: status)
        case 404, 410:
            return ForgeError(.notFound, "it does not exist, or the credential may not see it; \(said)", status: status)
        case 408, 423, 425: return ForgeError(.unavailable, said, status: status, retryAt: retryAt)
        case 300..<400:
            return ForgeError(
                .refused, "the forge answers with a redirect, which is not followed; \(said)", status: status)
        case 400..<500: return ForgeError(.refused, "the forge refused the request; \(said)", status: status)
        default:
            return ForgeError(.unavailable, "the forge can't answer now; \(said)", status: status, retryAt: retryAt)
        }
    }

    /// The time from which requests are allowed again, if the answer says that there were too many.
    ///
    /// GitHub answers 403 or 429. A primary limit has `x-ratelimit-remaining: 0` and the second at which it ends. A
    /// secondary limit has a `retry-after`, or neither; then GitHub wants a pause of at least a minute. Source:
    /// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    private func limitEnd(_ answer: ForgeAnswer) -> Date? {
        guard answer.status == 429 || answer.status == 403 else { return nil }
        let isSecondary = String(decoding: answer.body.prefix(2_000), as: UTF8.self).lowercased().contains(
            "secondary rate limit")
        if let date = retryAfter(answer), answer.status == 429 || isSecondary { return date }
        if answer.headers["x-ratelimit-remaining"] == "0" || answer.headers["ratelimit-remaining"] == "0" {
            let reset = (answer.headers["x-ratelimit-reset"] ?? answer.headers["ratelimit-reset"]).flatMap(Double.init)
            if let reset { return bounded(Date(timeIntervalSince1970: reset)) }
        }
        return answer.status == 429 || isSecondary ? now().addingTimeInterval(60) : nil
    }

    private func retryAfter(_ answer: ForgeAnswer) -> Date? {
        guard let seconds = answer.headers["retry-after"].flatMap(Double.init), seconds >= 0 else { return nil }
        return bounded(now().addingTimeInterval(seconds))
    }

    /// The date, but at least a second and at most two hours from now: a forge's clock may be wrong.
    private func bounded(_ date: Date) -> Date {
        min(max(date, now().addingTimeInterval(1)), now().addingTimeInterval(7_200))
    }

    /// The error message in a forge's answer, on one line of at most 200 characters. It is untrusted: it may quote text
    /// of a change.
    private static func message(_ body: Data) -> String {
        struct Message: Decodable {
            var message: Text?
            var error: Text?
            var errors: [Detail]?
            struct Detail: Decodable {
                var message: String?
                var field: String?
                var code: String?
                init(from decoder: any Decoder) throws {
                    guard let fields = try? decoder.container(keyedBy: Key.self) else { return }
                    message = try? fields.decodeIfPresent(String.self, forKey: .message)
                    field = try? fields.decodeIfPresent(String.self, forKey: .field)
                    code = try? fields.decodeIfPresent(String.self, forKey: .code)
                }
                enum Key: String, CodingKey { case message, field, code }
                var words: String? { message ?? field.map { "\($0) \(code ?? "")" } }
            }
            /// GitLab's message, which is a text or an object.
            struct Text: Decodable {
                var value: String
                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if let text = try? container.decode(String.self) {
                        value = text
                    } else {
                        let fields = try container.decode([String: [String]].self)
                        value = fields.sorted { $0.key < $1.key }.map {
                            "\($0.key) \($0.value.joined(separator: ", "))"
                        }
                        .joined(separator: "; ")
                    }
                }
            }
        }
        guard let found = try? JSONDecoder().decode(Message.self, from: body) else { return "" }
        let parts =
            [found.message?.value, found.error?.value].compactMap { $0 } + (found.errors ?? []).compactMap(\.words)
        let line = parts.joined(separator: "; ").unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }
        return line.isEmpty ? "" : " (\(String(line.prefix(200))))"
    }
}
