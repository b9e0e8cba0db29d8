import ForeignText
import Results

/// Reads Python's tracebacks, and failures as pytest shows them.
struct PythonReading {
    /// The innermost frame of the project's code, and the innermost frame of all.
    private var own: SourcePlace?
    private var innermost: SourcePlace?
    private var isTraceback = false
    private var fatal: Substring?
    private var fatalLines = 0
    /// pytest's `E   …` lines, the line of code before them, and the location that preceded them.
    private var errors: [Substring] = []
    private var code: Substring?
    private var place: SourcePlace?

    /// Whether the last line was part of something unfinished.
    private(set) var isInside = false

    /// Takes a line, and returns the finding that it completes.
    mutating func take(_ line: Substring) -> Finding? {
        isInside = false
        if let finding = traceback(line) { return finding }
        return isInside ? nil : pytest(line)
    }

    mutating func finish() -> Finding? {
        if let message = fatal {
            fatal = nil
            return DiagnosticLine.finding(.error, message, nil, "crash")
        }
        (isTraceback, own, innermost, isInside) = (false, nil, nil, false)
        return errors.isEmpty ? nil : conclude(nil, nil)
    }

    private mutating func traceback(_ line: Substring) -> Finding? {
        // faulthandler prints this when the interpreter itself crashes, with its frames in reverse order. pytest has
        // already written the test's name on that line.
        if let mark = line.byteRange(of: "Fatal Python error: ") {
            (fatal, fatalLines, isInside) = (line[mark.upperBound...], 0, true)
            return nil
        }
        if let message = fatal {
            let text = line.drop { $0 == " " }
            if let frame = Self.frame(text), !frame.isOfTools {
                fatal = nil
                return DiagnosticLine.finding(.error, message, frame, "crash")
            }
            fatalLines += 1
            isInside = true
            guard fatalLines > 300 else { return nil }
            fatal = nil
            return DiagnosticLine.finding(.error, message, nil, "crash")
        }
        if line.startsWith(bytesOf: "Traceback (most recent call last)") {
            (isTraceback, own, innermost, isInside) = (true, nil, nil, true)
            return nil
        }
        let text = line.drop { $0 == " " || $0 == "\t" }
        // A syntax error has a frame, but no first line of a traceback.
        if text.startsWith(bytesOf: "File \""), let frame = Self.frame(text) {
            if !frame.isOfTools { own = frame }
            (innermost, isTraceback, isInside) = (frame, true, true)
            return nil
        }
        guard isTraceback else { return nil }
        if text.startIndex != line.startIndex || text.isEmpty {
            isInside = !text.isEmpty
            return nil
        }
        isTraceback = false
        let name = line.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        guard !name.isEmpty, line.dropFirst(name.count).isEmpty || line.dropFirst(name.count).hasPrefix(":") else {
            return nil
        }
        let finding = DiagnosticLine.finding(
            .error, line, own ?? innermost, name.split(separator: ".").last.map(String.init))
        (own, innermost) = (nil, nil)
        return finding
    }

    /// `File "/w/a.py", line 3, in f`.
    private static func frame(_ text: Substring) -> SourcePlace? {
        let path = text.dropFirst(6).prefix { $0 != "\"" }
        let rest = text.dropFirst(6 + path.count)
        guard rest.hasPrefix("\", line ") else { return nil }
        return SourcePlace(file: String(path), line: Int(rest.dropFirst(8).prefix { $0.isASCII && $0.isNumber }))
    }

    private mutating func pytest(_ line: Substring) -> Finding? {
        if line == "E" || line.hasPrefix("E   ") {
            if errors.count < 12 { errors.append(line.dropFirst(min(4, line.count))) }
            isInside = true
            return nil
        }
        if line.hasPrefix(">   ") {
            code = line
            isInside = true
            return nil
        }
        if let (found, rest) = SourcePlace.read(line), !found.isOfTools, found.file.hasSuffix(".py") {
            // `a.py:3: in f` comes before the error, `a.py:3: AssertionError` after it.
            if rest.hasPrefix(": in ") {
                (place, isInside) = (found, true)
                return nil
            }
            if !errors.isEmpty { return conclude(found, rest.drop { ": ".contains($0) }) }
        }
        // The message of an error without a later location ends only with the section.
        let isEnd = line.hasPrefix("=====") || line.hasPrefix("_____")
        if isEnd { code = nil }
        guard isEnd, !errors.isEmpty else { return nil }
        return conclude(nil, nil)
    }

    private mutating func conclude(_ after: SourcePlace?, _ kind: Substring?) -> Finding? {
        let indent = errors.first?.prefix { $0 == " " }.count ?? 0
        let words = errors.map { line in line.dropFirst(min(indent, line.prefix { $0 == " " }.count)) }
        var message = words.joined(separator: "\n")
        if message.isEmpty { message = "failed" }
        let head = words.first?.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } ?? ""
        let isName = kind?.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } == true
        let name = (isName ? kind.map(String.init) : nil) ?? (head.hasSuffix("Error") ? String(head) : "pytest")
        var finding = DiagnosticLine.finding(.error, message[...], after ?? place, name)
        finding.excerpt = code.map(String.init)
        (errors, code, place) = ([], nil, nil)
        return finding.file == nil && finding.message == "failed" ? nil : finding
    }
}
