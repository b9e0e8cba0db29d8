import Concurrency
import Foundation
import Reports
import Results
import TerminalText

/// The log of one attempt: a file that grows while the step runs, later a file of the archive.
struct LogSource: Sendable {
    /// The most bytes that are read of a log.
    static let mostBytes = 256 << 20
    /// The most bytes that are read of a live log at a time.
    private static let mostLiveBytes = 64 << 20

    let run: RunID
    /// The step's name.
    let name: String
    let attempt: Int
    /// The name of the log.
    let file: String
    /// The folder with the logs of a live run; nil once the run has ended.
    let folder: String?
    let host: PagesHost

    var isLive: Bool { folder != nil }

    /// The bytes from an offset on; empty where there are none (yet).
    func read(from offset: Int, atMost count: Int) async throws -> [UInt8] {
        guard let folder else {
            let bytes = try await host.log(run, file).bytes
            return Array(bytes.dropFirst(offset).prefix(count))
        }
        let path = "\(folder)/\(file)"
        return try await offThread {
            guard let handle = FileHandle(forReadingAtPath: path) else { return [] }
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(offset))
            return [UInt8](try handle.read(upToCount: min(count, Self.mostLiveBytes)) ?? Data())
        }
    }

    /// The size of a live log, in bytes; nil where the file is gone.
    var size: Int? {
        get async {
            guard let folder else { return nil }
            let path = "\(folder)/\(file)"
            return try? await offThread {
                try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            }
        }
    }
}

/// Turns the bytes of a log into numbered lines of HTML, piece by piece.
struct LogLines {
    /// How far a log was shown: bytes, and the number of the line that comes next.
    struct Mark: Sendable, Equatable {
        var offset = 0
        var line = 1

        init() {}

        /// - Parameter text: What ``description`` is.
        init?(_ text: String) {
            let parts = text.split(separator: ".")
            guard parts.count == 2, let offset = Int(parts[0]), let line = Int(parts[1]), offset >= 0, line > 0 else {
                return nil
            }
            (self.offset, self.line) = (offset, line)
        }

        var description: String { "\(offset).\(line)" }
    }

    var mark = Mark()
    private var ansi = ANSIHTML(lineLimit: 4_000)

    init(_ mark: Mark = Mark()) { self.mark = mark }

    /// The rules for all colours that lines have had.
    var style: String { ansi.stylesheet }

    /// The whole lines of `bytes`, of which the middle is left out where they are too many.
    ///
    /// - Parameter isWhole: Whether the last line is shown although it has no end.
    mutating func html(_ bytes: [UInt8], atMost limit: Int, isWhole: Bool) -> HTML {
        var end = bytes.count
        if !isWhole { end = (bytes.lastIndex(of: 0x0A) ?? -1) + 1 }
        var html: HTML = ""
        var (start, skipTo) = (0, 0)
        if end > limit {
            // A fifth of what is shown is the start.
            start = (bytes[..<(limit / 5)].lastIndex(of: 0x0A) ?? -1) + 1
            append(bytes[..<start], to: &html)
            skipTo = (bytes[..<(end - limit * 4 / 5)].lastIndex(of: 0x0A) ?? start - 1) + 1
            skip(bytes[start..<skipTo], to: &html)
            start = skipTo
        }
        append(bytes[start..<end], to: &html)
        return html
    }

    /// Counts lines that are not shown, and says so.
    mutating func skip(_ bytes: ArraySlice<UInt8>, to html: inout HTML) {
        guard !bytes.isEmpty else { return }
        mark.line += bytes.count { $0 == 0x0A }
        mark.offset += bytes.count
        html += "<div class=\"gap\">\(Figures.size(bytes.count)) are left out here; the raw log has them</div>"
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, to html: inout HTML) {
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty && line.startIndex == bytes.endIndex { break }
            html += "<div class=\"l\" id=\"L\(mark.line)\"><a href=\"#L\(mark.line)\">\(mark.line)</a>"
            line.withUnsafeBufferPointer { html.append(ansi: $0, with: &ansi) }
            html += "</div>"
            mark.line += 1
        }
        mark.offset += bytes.count
    }
}
