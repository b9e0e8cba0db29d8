import Concurrency
import Foundation
import Results

/// A step's log: as it is, and as it grows.
extension Pages {
    func log(_ request: PageRequest) async throws -> PageResponse {
        let source = try await views.logSource(try views.id(request.path[1]), request.path[3], request)
        switch request.path[4] {
        case "raw": return try await raw(source)
        case "follow":
            let mark = request.headers["last-event-id"] ?? request.value("from")
            let from = mark.flatMap(LogLines.Mark.init) ?? LogLines.Mark()
            return stream(LogStream(source: source, from: from, live: logs))
        default: throw PageProblem(.notFound, "there is no such log")
        }
    }

    /// Whatever it says it is: text, which no browser runs.
    private func raw(_ source: LogSource) async throws -> PageResponse {
        try await views.logTurns.take {
            var content = try await source.content() ?? .bytes([])
            let type = "text/plain; charset=utf-8"
            if content.size <= LogContent.mostBytes {
                return PageResponse(type: type, try await content.read(from: 0).bytes)
            }
            // Many slow readers must not hold many logs in memory.
            if case .bytes(let bytes) = content { content = .output(try await OpenedFile(spooling: bytes)) }
            var response = PageResponse(type: type, [])
            response.body = .stream(RawBytes(content: content))
            return response
        }
    }
}

/// A log or file as it is, up to the end that it had when it was asked for.
struct RawBytes: PageStream {
    let content: LogContent

    func pieces() -> any PagePieces { RawPieces(content: content, end: content.size) }
}

private struct RawPieces: PagePieces {
    private static let pieceBytes = 64 << 10

    let content: LogContent
    let end: Int
    private var offset = 0

    init(content: LogContent, end: Int) { (self.content, self.end) = (content, end) }

    mutating func next() async throws -> [UInt8]? {
        guard offset < end else { return nil }
        let (start, bytes) = try await content.read(from: offset, atMost: min(Self.pieceBytes, end - offset))
        offset = start + bytes.count
        return bytes.isEmpty ? nil : bytes
    }
}
