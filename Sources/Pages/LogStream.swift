import Foundation
import Reports
import Results

/// The lines of a log as they come, for one reader. A reader who is too slow is taken ahead, with a mark.
struct LogStream: PageStream {
    let source: LogSource
    /// What the reader has already.
    let from: LogLines.Mark
    let live: LiveLogs

    func pieces() -> any PagePieces {
        LogPieces(source: source, mark: from, follower: live.follower(of: source, from: from))
    }
}

private struct LogPieces: PagePieces {
    /// Bytes and lines of a log that one event has which is made for this reader alone.
    private static let ownBytes = 256 << 10
    private static let ownLines = 4_000

    private enum State {
        case new, following, ending, over
    }

    let source: LogSource
    var mark: LogLines.Mark
    let follower: LiveLogs.Follower
    private var state = State.new
    /// The number of the piece that comes next.
    private var seen = 0
    /// The colours that the reader knows.
    private var styles: Set<String> = []
    /// Whether the reader has got a piece that others got, too.
    private var isUpToDate = false

    init(source: LogSource, mark: LogLines.Mark, follower: LiveLogs.Follower) {
        (self.source, self.mark, self.follower) = (source, mark, follower)
    }

    mutating func next() async throws -> [UInt8]? {
        switch state {
        case .new:
            state = .following
            return Self.beginning
        case .following: return try await follow()
        case .ending:
            // What came between this reader's last piece and the end.
            if !isUpToDate, let event = try await catchUp(to: .max) { return event }
            state = .over
            return Self.event("over", Data(), id: mark.description)
        case .over: return nil
        }
    }

    private mutating func follow() async throws -> [UInt8]? {
        switch await follower.next(seen, from: mark) {
        case .nothing:
            try Task.checkCancellation()
            return Self.nothing
        case .over:
            state = .ending
            return try await next()
        case .closed:
            // Its browser connects again.
            state = .over
            return nil
        case .piece(let piece, let number):
            if piece.from.offset != mark.offset {
                // Before its first piece a reader gets all that it has not seen. Later it was too slow.
                if !isUpToDate || piece.from.offset < mark.offset {
                    let end = piece.from.offset < mark.offset ? piece.to.offset : piece.from.offset
                    if let event = try await catchUp(to: end) { return event }
                    if piece.from.offset < mark.offset {
                        seen = number + 1
                        return Self.nothing
                    }
                } else {
                    return try skip(to: piece.from)
                }
            }
            (seen, mark, isUpToDate) = (number + 1, piece.to, true)
            return style(piece.style) + Self.event("lines", piece.data, id: mark.description)
        }
    }

    private mutating func style(_ text: String) -> [UInt8] {
        guard styles.insert(text).inserted, let data = try? JSONEncoder().encode(text) else { return [] }
        return Array("event: colours\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    private mutating func skip(to next: LogLines.Mark) throws -> [UInt8] {
        var lines = LogLines(mark)
        var html: HTML = ""
        let count = mark.isCounted && next.isCounted ? next.line - mark.line : nil
        lines.leaveOut(upTo: next.offset, lines: count, to: &html)
        mark = next
        return try event(html)
    }

    /// The next lines before an offset; nil where there are none.
    private mutating func catchUp(to end: Int) async throws -> [UInt8]? {
        guard mark.offset < end, let content = try? await source.content() else { return nil }
        let end = min(end, content.size)
        guard mark.offset < end else { return nil }
        var lines = LogLines(mark)
        var html: HTML = ""
        if end - mark.offset > LogProducer.mostBehind {
            lines.leaveOut(upTo: end - Self.ownBytes, lines: nil, to: &html)
        }
        let wanted = min(Self.ownBytes, end - lines.mark.offset)
        let (start, bytes) = try await content.read(from: lines.mark.offset, atMost: wanted)
        lines.leaveOut(upTo: start, lines: nil, to: &html)
        let (whole, isCut) = LogProducer.wholeLines(bytes, atMost: Self.ownLines)
        // Only the last line has no end.
        let isLast = !isCut && (whole == 0 || start + bytes.count >= end)
        lines.append(bytes[..<(isLast ? bytes.count : whole)], to: &html)
        guard lines.mark != mark else { return nil }
        mark = lines.mark
        return style(lines.style) + (try event(html))
    }

    private func event(_ html: HTML) throws -> [UInt8] {
        let data = try JSONEncoder().encode(LogProducer.LinesEvent(html: html.text, part: ""))
        return Self.event("lines", data, id: mark.description)
    }
}
