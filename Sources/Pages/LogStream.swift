import Control
import Foundation
import Reports
import Results

/// The lines of a log as they come. A reader who is too slow is taken to the end, with a mark.
struct LogStream: PageStream {
    let source: LogSource
    /// What the reader has already.
    let from: LogLines.Mark

    func pieces() -> any PagePieces { LogPieces(source: source, lines: LogLines(from)) }
}

private struct LogPieces: PagePieces {
    /// The time between two looks at a log that grows.
    private static let pause = Duration.milliseconds(20)
    /// Bytes of a log that one event has.
    private static let mostEventBytes = 256 << 10
    /// A reader who is this many bytes behind the end is taken there.
    private static let mostBehind = 1 << 20

    private struct LinesEvent: Encodable {
        var html: String
        var style: String
    }

    private enum State {
        case new, following, ended, over
    }

    let source: LogSource
    var lines: LogLines
    private var state = State.new

    init(source: LogSource, lines: LogLines) { (self.source, self.lines) = (source, lines) }

    mutating func next() async throws -> [UInt8]? {
        switch state {
        case .new:
            state = .following
            return Self.beginning
        case .following: return try await look()
        case .ended:
            state = .over
            return Self.event("over", Data(), id: lines.mark.description)
        case .over: return nil
        }
    }

    /// Waits until there are lines.
    private mutating func look() async throws -> [UInt8] {
        var looks = 0
        while true {
            let html = try await newLines()
            if !html.isEmpty { return try event(html) }
            looks += 1
            if looks % 25 == 0, await !isLive() {
                state = .ended
                // What was written between the last look and the end.
                return try event(try await newLines())
            }
            if looks == 750 { return Self.nothing }
            try await Task.sleep(for: Self.pause)
        }
    }

    private func event(_ html: HTML) throws -> [UInt8] {
        let data = try JSONEncoder().encode(LinesEvent(html: html.text, style: lines.style))
        return Self.event("lines", data, id: lines.mark.description)
    }

    /// The lines that came since the last look.
    private mutating func newLines() async throws -> HTML {
        var html: HTML = ""
        guard let size = await source.size, size > lines.mark.offset else { return html }
        if size - lines.mark.offset > Self.mostBehind {
            let left = try await source.read(
                from: lines.mark.offset, atMost: size - lines.mark.offset - Self.mostEventBytes)
            if let end = left.lastIndex(of: 0x0A) { lines.skip(left[...end], to: &html) }
        }
        let bytes = try await source.read(from: lines.mark.offset, atMost: Self.mostEventBytes)
        // A line that fills all of an event is shown in pieces.
        let isPiece = bytes.count == Self.mostEventBytes && !bytes.contains(0x0A)
        html += lines.html(bytes, atMost: Self.mostEventBytes, isWhole: isPiece)
        return html
    }

    private func isLive() async -> Bool {
        let live = (try? await source.host.run(source.run))?.live
        return live?.steps.contains {
            $0.record.name == source.name && !$0.record.status.isFinal && $0.attempt <= source.attempt
        } ?? false
    }
}
