import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// One request to App Store Connect.
struct AppStoreRequest: Sendable {
    var method: HTTPMethod
    /// Below the API's root, beginning with a slash.
    var path: String
    var query: [(name: String, value: String)] = []
    var body: Data?
    /// Whether it may be sent again when nobody knows whether it has taken effect.
    var isRepeatable = true

    static func get(_ path: String, _ query: KeyValuePairs<String, String> = [:]) -> AppStoreRequest {
        AppStoreRequest(method: .GET, path: path, query: query.map { ($0.key, $0.value) })
    }

    /// A request that makes something. Who sends it looks for that after an answer that was lost.
    static func make(_ path: String, _ body: some Encodable) throws -> AppStoreRequest {
        AppStoreRequest(method: .POST, path: path, body: try encoded(body), isRepeatable: false)
    }

    /// A request after which the state is the same, however often it is sent.
    static func change(_ method: HTTPMethod, _ path: String, _ body: some Encodable) throws -> AppStoreRequest {
        AppStoreRequest(method: method, path: path, body: try encoded(body))
    }

    static func delete(_ path: String) -> AppStoreRequest { AppStoreRequest(method: .DELETE, path: path) }

    /// `text` as one component of a path, or as a value of a query.
    static func part(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_.~")))
            ?? ""
    }

    /// Path and query.
    var target: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\(Self.part($0.name))=\(Self.part($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ body: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(body)
    }
}

/// Sends requests to App Store Connect, and repeats those that may be repeated.
///
/// Each request has a deadline and each answer a size limit. Redirects are not followed, since the token must reach no
/// other host.
struct AppStoreClient: Sendable {
    static let apple = "https://api.appstoreconnect.apple.com"
    /// The longest time from the start of a request to the last byte of its answer.
    static let deadline = TimeAmount.seconds(60)
    /// The largest answer, in bytes. The upload operations of a file of 4 GB in parts of 5 MB take about 1 MB.
    static let mostBytes = 16 << 20
    /// The most pages of a list that are read, of 200 each.
    static let mostPages = 25

    let root: String
    let tokens: AppStoreTokens
    let http: HTTPClient
    var pauses = AppStorePauses()

    /// How requests are sent: no redirects, bounded times and sizes.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(15), read: .seconds(60)))
        configuration.connectionPool.idleTimeout = .seconds(20)
        configuration.decompression = .enabled(limit: .size(mostBytes))
        return configuration
    }

    func one<A>(_ request: AppStoreRequest, _ type: A.Type) async throws -> AppStoreResource<A> {
        try decode(AppStoreDocument<A>.self, try await send(request)).data
    }

    /// All resources of a list, page by page.
    func all<A>(_ request: AppStoreRequest, _ type: A.Type) async throws -> [AppStoreResource<A>] {
        var found: [AppStoreResource<A>] = []
        var request = request
        for _ in 0..<Self.mostPages {
            let page = try decode(AppStorePage<A>.self, try await send(request))
            found += page.data
            guard let next = page.links?.next else { return found }
            guard next.hasPrefix(root + "/") else {
                throw AppStoreError(.badAnswer, "the next page of \(request.path) is at another host")
            }
            request = AppStoreRequest(method: .GET, path: String(next.dropFirst(root.utf8.count)))
        }
        return found
    }

    /// The body of the answer to `request`, which is sent again where that is safe.
    ///
    /// - Throws: ``AppStoreError``; `CancellationError`.
    @discardableResult
    func send(_ request: AppStoreRequest) async throws -> Data {
        var failures = 0
        var isRenewed = false
        while true {
            let token = try await tokens.token()
            do {
                return try await attempt(request, token)
            } catch let error as AppStoreError where error.code == .unauthorized && !isRenewed {
                isRenewed = true
                await tokens.discard(token)
            } catch let error as AppStoreError where error.mayPass {
                failures += 1
                // A request that was limited has had no effect.
                guard request.isRepeatable || error.code == .limited, failures < pauses.attempts else { throw error }
                try await pauses.sleep(pauses.after(failures, error))
            }
        }
    }

    /// Finds something, or makes it.
    ///
    /// When nobody knows whether a request to make it has taken effect, it is looked for again.
    func findOrMake<Value>(_ find: () async throws -> Value?, make: () async throws -> Value) async throws -> Value {
        var failures = 0
        while true {
            if let found = try await find() { return found }
            do {
                return try await make()
            } catch let error as AppStoreError where error.mayPass {
                failures += 1
                guard failures < pauses.attempts else { throw error }
                try await pauses.sleep(pauses.after(failures, error))
            }
        }
    }

    private func attempt(_ request: AppStoreRequest, _ token: String) async throws -> Data {
        var message = HTTPClientRequest(url: root + request.target)
        message.method = request.method
        message.headers.add(name: "Authorization", value: "Bearer \(token)")
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "User-Agent", value: "pipectl")
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(ByteBuffer(bytes: body))
        }
        let (response, body) = try await execute(message, deadline: Self.deadline)
        let status = Int(response.status.code)
        guard !(200..<300).contains(status) else { return body }
        throw Self.error(status, response.headers, body, request)
    }

    /// Sends one message, and reads the whole answer.
    func execute(_ message: HTTPClientRequest, deadline: TimeAmount) async throws -> (HTTPClientResponse, Data) {
        do {
            let response = try await http.execute(message, timeout: deadline)
            let body = try await response.body.collect(upTo: Self.mostBytes)
            return (response, Data(body.readableBytesView))
        } catch let error as AppStoreError {
            throw error
        } catch is NIOTooManyBytesError {
            throw AppStoreError(.badAnswer, "an answer is larger than \(Self.mostBytes >> 20) MiB")
        } catch {
            try Task.checkCancellation()
            let words = (error as? HTTPClientError)?.shortDescription ?? String(describing: error)
            throw AppStoreError(.unreachable, "no answer: \(words.plain(200))")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw AppStoreError(.badAnswer, "an answer is not what the API's description says")
        }
    }

    // MARK: Errors

    static func error(_ status: Int, _ headers: HTTPHeaders, _ body: Data, _ request: AppStoreRequest) -> AppStoreError
    {
        let said = "\(request.method.rawValue) \(request.path): \(status)\(words(of: body))"
        let pause = headers.first(name: "Retry-After").flatMap(Double.init)
        switch status {
        case 401: return AppStoreError(.unauthorized, said)
        case 403: return AppStoreError(.forbidden, said)
        case 404: return AppStoreError(.notFound, said)
        case 409: return AppStoreError(.conflict, said)
        case 429:
            let limit = AppStoreLimit(headers.first(name: "X-Rate-Limit") ?? "")
            let most = limit.most.map { " (\(limit.remaining ?? 0) of \($0) requests are left this hour)" } ?? ""
            return AppStoreError(.limited, said + most, pause: pause)
        case 408, 500...: return AppStoreError(.unavailable, said, pause: pause)
        default: return AppStoreError(.refused, said)
        }
    }

    /// Apple's own words in an error's body, on one line.
    static func words(of body: Data) -> String {
        struct Answer: Decodable {
            var errors: [Item]
            struct Item: Decodable {
                var title: String?
                var detail: String?
            }
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body) else { return "" }
        let parts = answer.errors.prefix(5).compactMap { $0.detail ?? $0.title }.map { $0.plain(300) }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))"
    }
}

extension String {
    /// Foreign text on one line of at most `most` characters, without control characters.
    func plain(_ most: Int) -> String {
        let characters = unicodeScalars.prefix(most * 4).map { scalar -> Character in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? " " : Character(scalar)
        }
        return String(String(characters).prefix(most))
    }
}
