import Foundation
import PageMarkup

/// A request to the pages, without anything of HTTP that they don't use.
struct PageRequest: Sendable {
    var method: String
    /// The decoded components of the path: `/runs/7` is `["runs", "7"]`.
    var path: [String]
    /// The decoded query; of several values with one name the last.
    var query: [String: String]
    /// By their names in lower case.
    var headers: [String: String]
    /// What a POST sends.
    var body: [UInt8] = []
    /// The address at the other end of the connection; empty where that is not known.
    var source = ""
    /// For whom a page is made.
    var reader = PageReader.stranger

    /// - Parameter target: The path and query as the request has them; nil if they can't be decoded.
    init?(method: String, target: String, headers: [String: String]) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("/"), target.utf8.count <= 4_000 else { return nil }
        var path: [String] = []
        for part in first.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let text = String(part).removingPercentEncoding, !text.contains("\0") else { return nil }
            path.append(text)
        }
        if path.last == "" { path.removeLast() }
        (self.method, self.path, self.headers) = (method, path, headers)
        query = Self.fields(parts.count > 1 ? String(parts[1]) : "")
    }

    /// The fields of a query: `a=1&b=x+y`.
    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&").prefix(200) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            }
            guard let name = parts.first ?? nil, let value = parts.count > 1 ? parts[1] : "" else { continue }
            fields[name] = value
        }
        return fields
    }

    /// A value of the query that is not empty.
    func value(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
}

/// The body of an answer that is made piece by piece, as fast as its reader takes it.
protocol PageStream: Sendable {
    func pieces() -> any PagePieces
}

/// The pieces of one answer.
protocol PagePieces {
    /// The next piece; nil at the end.
    mutating func next() async throws -> [UInt8]?
}

extension PagePieces {
    /// One event. https://html.spec.whatwg.org/multipage/server-sent-events.html
    ///
    /// - Parameter data: Without line feeds.
    static func event(_ name: String, _ data: Data, id: String) -> [UInt8] {
        Array("event: \(name)\nid: \(id)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// What a stream begins with: a browser that lost it connects again after a second.
    static var beginning: [UInt8] { Array("retry: 1000\n\n".utf8) }
    /// Shows that the connection lives.
    static var nothing: [UInt8] { Array(": nothing new\n\n".utf8) }
}

/// What a request is answered with.
struct PageResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case stream(any PageStream)
    }

    var status = 200
    var headers: [String: String]
    /// Each is the value of one `Set-Cookie`.
    var cookies: [String] = []
    var body: Body

    init(_ status: Int = 200, type: String, _ bytes: [UInt8], headers: [String: String] = [:]) {
        self.status = status
        self.headers = headers
        self.headers["content-type"] = type
        body = .bytes(bytes)
    }

    init(_ status: Int = 200, text: String) {
        self.init(status, type: "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }

    /// Server-sent events. https://html.spec.whatwg.org/multipage/server-sent-events.html
    static func events(_ stream: any PageStream) -> PageResponse {
        var response = PageResponse(
            type: "text/event-stream; charset=utf-8", [], headers: ["x-accel-buffering": "no"])
        response.body = .stream(stream)
        return response
    }
}
