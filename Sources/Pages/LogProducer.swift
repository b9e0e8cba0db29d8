import Control
import Foundation
import Reports
import Results

/// Reads one log as it is written, and renders each part of it once for all who follow.
///
/// It sleeps until the step prints something. What it sends is bounded: of a step that prints faster than that, parts
/// are left out, with a mark.
struct LogProducer {
    /// Bytes and lines of a log that one piece has.
    static let pieceBytes = 64 << 10
    static let pieceLines = 500
    /// Bytes behind the end from which on parts are left out.
    static let mostBehind = 1 << 20
    /// Bytes of lines that are read only to count them.
    private static let mostCounted = 64 << 20
    /// Bytes of a line without an end that are shown.
    private static let unfinishedBytes = 8 << 10
    /// Bytes that all followers together are sent in a second, and one of them at most and at least.
    private static let rates = (all: 16e6, most: 2e6, least: 128e3)
    /// Bytes that may be sent at once.
    private static let burst = 512e3
    /// The shortest time between two pieces: what a step prints in single lines comes together.
    private static let pause = Duration.milliseconds(8)

    struct LinesEvent: Encodable {
        var html: String
        /// The last line, which has no end yet; empty for none.
        var part: String
    }

    private enum Progress {
        case nothingNew, more, over
    }

    let source: LogSource
    let logs: LiveLogs
    private var lines: LogLines
    /// The end of the last piece.
    private var told: LogLines.Mark
    /// The start of an unfinished line, as it was last sent.
    private var part: HTML = ""
    /// Whether the rest of a line that was too long is passed over.
    private var isInLine = false
    private var counted = 0
    private var allowance = LogProducer.burst
    private var refilledAt = ContinuousClock.now

    init(source: LogSource, logs: LiveLogs, from mark: LogLines.Mark) {
        (self.source, self.logs, told) = (source, logs, mark)
        lines = LogLines(mark)
    }

    /// - Returns: Whether the log is over; else nobody follows it any more.
    mutating func run() async -> Bool {
        let news = source.host.news()
        while !Task.isCancelled, !logs.giveUp(source.key) {
            do {
                if let content = try await source.content() {
                    return try await follow(content)
                }
                // The step has not started, or has ended without a word.
                if await !isExpected() { return true }
            } catch is CancellationError {
                return false
            } catch {
                // What can't be read is over for its followers; its page says why.
                return true
            }
            await Self.first(news, within: .seconds(2))
        }
        return false
    }

    /// Whether the attempt is under way or still to come.
    private func isExpected() async -> Bool {
        guard let live = (try? await source.host.run(source.run))?.live, source.step <= live.steps.count else {
            return false
        }
        let step = live.steps[source.step - 1]
        return !step.record.status.isFinal && step.attempt <= source.attempt
    }

    private mutating func follow(_ content: LogContent) async throws -> Bool {
        var looked = -1
        while true {
            try Task.checkCancellation()
            if logs.giveUp(source.key) { return false }
            var extent = (bytes: content.size, isOver: true)
            if case .output(let output) = content { extent = output.extent }
            var progress = Progress.nothingNew
            if extent.bytes != looked || extent.isOver {
                progress = try await take(content, extent.bytes, isOver: extent.isOver)
            }
            switch progress {
            case .over: return true
            case .more: try await rest()
            case .nothingNew:
                looked = extent.bytes
                if case .output(let output) = content {
                    await Self.first({ [looked] in await output.wait(beyond: looked) }, within: .seconds(15))
                }
            }
        }
    }

    /// Sends the next part of what there is.
    private mutating func take(_ content: LogContent, _ end: Int, isOver: Bool) async throws -> Progress {
        var html: HTML = ""
        if end - lines.mark.offset > Self.mostBehind {
            try await passOver(content, to: end - Self.pieceBytes, &html)
        }
        let (start, bytes) = try await content.read(from: lines.mark.offset, atMost: Self.pieceBytes)
        lines.leaveOut(upTo: start, lines: nil, to: &html)
        guard !bytes.isEmpty else {
            send(html, part: "")
            return isOver ? .over : .nothingNew
        }
        let isEnd = start + bytes.count >= end
        let (whole, isCut) = Self.wholeLines(bytes, atMost: Self.pieceLines)
        var rest = bytes[whole...]
        append(bytes[..<whole], to: &html)
        if !rest.isEmpty, !isCut, isEnd ? isOver || rest.count == Self.pieceBytes : whole == 0 {
            // The last line of all, one before bytes that are gone, or one that is longer than a piece: the rest of that
            // is passed over.
            if !isInLine { lines.append(line: rest, to: &html) }
            isInLine = rest.count == Self.pieceBytes
            lines.mark.offset += rest.count
            rest = []
        }
        let part: HTML = rest.isEmpty || isCut || isInLine ? "" : lines.unfinished(rest.prefix(Self.unfinishedBytes))
        send(html, part: part)
        if isOver && isEnd && rest.isEmpty { return .over }
        return isCut || !isEnd || whole > 0 ? .more : .nothingNew
    }

    /// Appends whole lines, without the rest of one whose start was shown.
    private mutating func append(_ bytes: ArraySlice<UInt8>, to html: inout HTML) {
        var bytes = bytes
        if isInLine, let end = bytes.firstIndex(of: 0x0A) {
            isInLine = false
            lines.mark.offset += end + 1 - bytes.startIndex
            bytes = bytes[(end + 1)...]
        }
        lines.append(bytes, to: &html)
    }

    /// The end of the last of at most `count` whole lines, and whether there are more whole lines.
    static func wholeLines(_ bytes: [UInt8], atMost count: Int) -> (end: Int, isCut: Bool) {
        var (end, found) = (0, 0)
        for place in bytes.indices where bytes[place] == 0x0A {
            if found == count { return (end, true) }
            (end, found) = (place + 1, found + 1)
        }
        return (end, false)
    }

    /// Leaves out what comes before the first line that starts behind `target`.
    private mutating func passOver(_ content: LogContent, to target: Int, _ html: inout HTML) async throws {
        var count: Int? = 0
        var place = lines.mark.offset
        counted += target - place
        if counted > Self.mostCounted || !lines.mark.isCounted { count = nil }
        while count != nil, place < target {
            let (start, bytes) = try await content.read(from: place, atMost: target - place)
            guard start == place, !bytes.isEmpty else {
                count = nil
                break
            }
            count = count.map { $0 + bytes.count { $0 == 0x0A } }
            place += bytes.count
        }
        let (start, bytes) = try await content.read(from: target, atMost: Self.pieceBytes / 2)
        let end = bytes.firstIndex(of: 0x0A)
        if start != target { count = nil }
        lines.leaveOut(
            upTo: start + (end.map { $0 + 1 } ?? 0), lines: count.map { $0 + (end == nil ? 0 : 1) }, to: &html)
        isInLine = false
    }

    private mutating func send(_ html: HTML, part: HTML) {
        guard !html.isEmpty || part.bytes != self.part.bytes else { return }
        let event = LinesEvent(html: html.text, part: part.text)
        // Text always has a form in JSON.
        guard let data = try? JSONEncoder().encode(event) else { return }
        logs.add(LiveLogs.Piece(from: told, to: lines.mark, data: data, style: lines.style), to: source.key)
        (told, self.part) = (lines.mark, part)
        allowance -= Double(data.count)
    }

    /// Lets followers and the step catch their breath.
    private mutating func rest() async throws {
        let rate = min(
            max(Self.rates.all / Double(max(logs.readers(of: source.key), 1)), Self.rates.least), Self.rates.most)
        let now = ContinuousClock.now
        allowance = min(allowance + (now - refilledAt) / .seconds(1) * rate, Self.burst)
        refilledAt = now
        try await Task.sleep(for: allowance < 0 ? max(.seconds(-allowance / rate), Self.pause) : Self.pause)
    }

    /// Waits for `body`, but no longer than a time.
    private static func first(_ body: @escaping @Sendable () async -> Void, within limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
