import Reports
import Results
import TerminalText

/// Turns the bytes of a log into numbered lines of HTML, piece by piece.
struct LogLines: Sendable {
    /// How far a log was shown: bytes, and the number of the line that comes next.
    struct Mark: Sendable, Equatable {
        var offset = 0
        var line = 1
        /// Whether ``line`` is known: of a log that is too fast, parts are gone before their lines were counted.
        var isCounted = true

        init() {}

        init(offset: Int, line: Int, isCounted: Bool = true) {
            (self.offset, self.line, self.isCounted) = (offset, line, isCounted)
        }

        /// - Parameter text: What ``description`` is.
        init?(_ text: String) {
            let isCounted = !text.hasSuffix("u")
            let parts = text.dropLast(isCounted ? 0 : 1).split(separator: ".")
            guard parts.count == 2, let offset = Int(parts[0]), let line = Int(parts[1]), offset >= 0, line > 0 else {
                return nil
            }
            (self.offset, self.line, self.isCounted) = (offset, line, isCounted)
        }

        var description: String { "\(offset).\(line)\(isCounted ? "" : "u")" }
    }

    var mark = Mark()
    private var ansi = ANSIHTML(lineLimit: 4_000)

    init(_ mark: Mark = Mark()) { self.mark = mark }

    /// The rules for all colours that lines have had.
    var style: String { ansi.stylesheet }

    /// Appends the lines of `bytes`. The last one needs no end.
    mutating func append(_ bytes: ArraySlice<UInt8>, to html: inout HTML) {
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty && line.startIndex == bytes.endIndex { break }
            append(line: line, to: &html)
        }
        mark.offset += bytes.count
    }

    /// Appends one line, without its end. The caller counts its bytes.
    mutating func append(line: ArraySlice<UInt8>, isMarked: Bool = false, to html: inout HTML) {
        html += isMarked ? "<div class=\"l at\"" : "<div class=\"l\""
        if mark.isCounted {
            html += " id=\"L\(mark.line)\"><a href=\"#L\(mark.line)\">\(mark.line)</a>"
        } else {
            html += ">"
        }
        line.withUnsafeBufferPointer { html.append(ansi: $0, with: &ansi) }
        html += "</div>"
        mark.line += 1
    }

    /// The start of a line that has no end yet; nothing is counted.
    func unfinished(_ bytes: ArraySlice<UInt8>) -> HTML {
        var copy = ansi
        var html: HTML = "<div class=\"l\">"
        bytes.withUnsafeBufferPointer { html.append(ansi: $0, with: &copy) }
        return html + "</div>"
    }

    /// Says that a part is not shown.
    ///
    /// - Parameter lines: The number of its lines; nil if nobody counted them.
    mutating func leaveOut(upTo offset: Int, lines: Int?, link: HTML = "", to html: inout HTML) {
        guard offset > mark.offset else { return }
        html += "<div class=\"gap\">\(Figures.size(offset - mark.offset))"
        if let lines { html += ", \(Figures.count(lines, "line"))," }
        html += " left out here; the raw log has them\(link)</div>"
        mark.offset = offset
        mark.line += lines ?? 0
        if lines == nil { mark.isCounted = false }
    }
}
