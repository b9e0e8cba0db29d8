import ForeignText

/// Reports of the address, thread, memory, leak and undefined behaviour sanitizers, and of libFuzzer.
struct SanitizerText {
    private let lines: [String]
    private var tool: String?
    private var reason: String?
    private var message: String?
    /// The place that a runtime error of the undefined behaviour sanitizer names.
    private var errorPlace: (file: String, line: Int?, column: Int?)?
    private var calls: [SanitizerCall] = []
    private var isDone = false

    private init(_ lines: ReportLines) {
        var lines = lines
        lines.removePrefix(before: "ERROR: ") { before in
            // `==123==` belongs to the report.
            let mark = before.reversed().prefix { $0 == " " || $0 == "=" || $0.isNumber }
            return mark.contains("=") ? mark.count : 0
        }
        self.lines = lines.lines
    }

    static func read(_ lines: ReportLines) throws(CrashReportError) -> CrashReport {
        var reader = SanitizerText(lines)
        return try reader.read()
    }

    private mutating func read() throws(CrashReportError) -> CrashReport {
        for line in lines where !isDone { read(line) }
        guard let reason else { throw CrashReportError.noCrash }
        var report = CrashReport(format: .sanitizer, reason: reason)
        report.message = message
        report.frames = calls.map(\.frame)
        if report.frames.isEmpty, let errorPlace {
            var frame = CrashReport.Frame()
            SwiftBacktrace.place(&frame, file: errorPlace.file, line: errorPlace.line, column: errorPlace.column)
            frame.isOwn = !OwnCode.isSystem(source: errorPlace.file)
            report.frames = [frame]
        }
        let images = calls.compactMap { call in
            call.module.map { LoadedImage(name: $0.fileName, path: $0, identifier: call.identifier, start: 0, end: 0) }
        }
        report.settle(images: images)
        if report.program == nil { report.program = report.frames.last { $0.isOwn }?.image }
        guard !report.frames.isEmpty else { throw CrashReportError.noCrash }
        return report
    }

    private mutating func read(_ line: String) {
        if reason == nil {
            readHeading(line)
            return
        }
        if let call = SanitizerCall(line) {
            if let last = calls.last, call.number <= last.number { isDone = true }
            if !isDone, calls.count < CrashLimits.frames { calls.append(call) }
        } else if !calls.isEmpty {
            // The first stack is that of the fault; others say where the memory was made.
            isDone = !line.trimmed.isEmpty
        } else if line.byteRange(of: "SUMMARY: ") != nil {
            isDone = true
        } else if message == nil, let access = Self.access(line) {
            message = access.cleanText(300)
        }
    }

    /// `==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x…`, `a.c:3:5: runtime error: …`
    private mutating func readHeading(_ line: String) {
        if let range = line.byteRange(of: ": runtime error: ") {
            reason = "undefined-behavior"
            message = String(line[range.upperBound...]).cleanText(600)
            let (file, number, column) = SwiftBacktrace.splitPlace(String(line[..<range.lowerBound]).trimmed)
            if number != nil { errorPlace = (file, number, column) }
            return
        }
        guard line.byteRange(of: "ERROR: ") != nil || line.byteRange(of: "WARNING: ") != nil,
            let range = line.byteRange(of: "Sanitizer: ") ?? line.byteRange(of: "libFuzzer: ")
        else { return }
        let text = String(line[range.upperBound...]).trimmed
        reason = Self.kind(text).cleanLine(100)
        message = nil
        if text.byteRange(of: "SEGV") != nil, let address = text.byteRange(of: "address ") {
            message = ("at address " + text[address.upperBound...].prefix { $0 != " " }).cleanText(300)
        }
    }

    private static func kind(_ text: String) -> String {
        if text.hasPrefix("attempting double-free") { return "double-free" }
        if text.hasPrefix("attempting free on") { return "bad-free" }
        var end = text.endIndex
        for stop in [" on ", " (", " at ", ": ", " with ", ";"] {
            if let range = text.byteRange(of: stop), range.lowerBound < end { end = range.lowerBound }
        }
        return String(text[..<end])
    }

    /// `READ of size 4 at 0x… thread T0` without the address.
    private static func access(_ line: String) -> String? {
        let text = line.trimmed
        let starts = [
            "READ of ", "WRITE of ", "Read of ", "Write of ", "Atomic ", "Direct leak", "Indirect leak", "Previous ",
        ]
        guard starts.contains(where: { text.hasPrefix($0) }) else { return nil }
        return text.byteRange(of: " at 0x").map { String(text[..<$0.lowerBound]) } ?? text
    }
}

/// One call: `#1 0x4a1b2c in foo(int) /src/foo.cc:12:5`, `#0 foo a.c:3 (a.out+0x12)`, `#2 0x7f (libc.so.6+0x29d8f)`.
struct SanitizerCall {
    var number: Int
    var frame: CrashReport.Frame
    /// The file that has the code, and its build id.
    var module: String?
    var identifier: String?

    init?(_ line: String) {
        var scanner = LineScanner(line)
        scanner.skipSpaces()
        guard scanner.take("#"), let number = scanner.number(), scanner.rest.first == 0x20 else { return nil }
        self.number = number
        scanner.skipSpaces()
        let hasAddress = scanner.hexadecimal() != nil
        scanner.skipSpaces()
        if hasAddress, scanner.take("in ") { scanner.skipSpaces() }
        var text = scanner.text.trimmed
        for unknown in [" (<unknown module>)", "(<unknown module>)", " ??:?", " ??:0", " _asan_rtl_:", " _asan_rtl_"]
        where text.hasSuffix(unknown) {
            text = String(text.dropLast(unknown.count))
        }
        if text.byteRange(of: ">+0x") != nil, let module = text.byteRange(of: " <") {
            text = String(text[..<module.lowerBound])
        }
        frame = CrashReport.Frame()
        takeBuildID(&text)
        takeModule(&text)
        takePlace(&text)
        frame.function = text == "<null>" || text.isEmpty ? nil : SwiftBacktrace.withoutOffset(text).cleanLine()
        frame.image = module?.fileName.cleanLine(200)
        frame.isOwn = isOwn
    }

    private var isOwn: Bool {
        if let file = frame.file {
            return !OwnCode.isSystem(source: file) && !OwnCode.isRuntime(function: frame.function ?? "")
        }
        if OwnCode.isRuntime(function: frame.function ?? "") { return false }
        return module.map { !OwnCode.isSystem(path: $0) } ?? true
    }

    private mutating func takeBuildID(_ text: inout String) {
        guard let range = text.byteRange(of: " (BuildId: "), let close = text[range.upperBound...].firstIndex(of: ")")
        else { return }
        identifier = String(text[range.upperBound..<close]).imageIdentifier
        text = String(text[..<range.lowerBound]).trimmed
    }

    /// Takes `(/usr/lib/libfoo.so+0x1234)` from the end.
    private mutating func takeModule(_ text: inout String) {
        guard text.hasSuffix(")"), let open = text.utf8.lastIndex(of: UInt8(ascii: "(")) else { return }
        let inside = text[text.utf8.index(after: open)...].dropLast()
        guard let plus = SwiftBacktrace.lastRange(of: "+0x", String(inside)) else { return }
        let name = String(String(inside)[..<plus.lowerBound])
        // macOS adds the architecture: `a.out:x86_64`.
        let bare = name.lastIndex(of: ":").map { String(name[..<$0]) } ?? name
        module = (bare.utf8.count > 2 ? bare : name).cleanLine()
        frame.offset = UInt64(String(inside)[plus.upperBound...], radix: 16)
        text = String(text[..<open]).trimmed
    }

    /// Takes ` /src/foo.cc:12:5` from the end.
    private mutating func takePlace(_ text: inout String) {
        if text.hasSuffix(" <null>") {
            text = String(text.dropLast(7)).trimmed
            return
        }
        // A path may have spaces; it begins at the root then.
        let (_, number, _) = SwiftBacktrace.splitPlace(text)
        let start: String.Index
        if let slash = Self.pathStart(text) {
            start = slash
        } else if number != nil, let space = text.lastIndex(of: " ") {
            start = text.index(after: space)
        } else if let space = text.lastIndex(of: " "), Self.looksLikeFile(text[text.index(after: space)...]) {
            start = text.index(after: space)
        } else if number != nil, !text.contains(" ") {
            start = text.startIndex
        } else {
            return
        }
        let (file, line, column) = SwiftBacktrace.splitPlace(String(text[start...]))
        // Code without debug information has its object file only.
        if !file.hasSuffix(".o") { SwiftBacktrace.place(&frame, file: file, line: line, column: column) }
        text = String(text[..<start]).trimmed
    }

    /// The first slash after a space at which the rest has no bracket: `operator/ (a, b)` is no path.
    private static func pathStart(_ text: String) -> String.Index? {
        var rest = text[...]
        while let range = rest.byteRange(of: " /") {
            let path = text[text.utf8.index(after: range.lowerBound)...]
            if path.utf8.count > 2, !path.contains("(") || path.contains(":") && !path.contains("::") {
                return path.startIndex
            }
            rest = rest[range.upperBound...]
        }
        return nil
    }

    private static func looksLikeFile(_ word: Substring) -> Bool {
        guard let dot = word.lastIndex(of: "."), !word.contains("("), !word.contains("<") else { return false }
        let ending = word[word.index(after: dot)...].prefix { $0 != ":" }
        return (1...5).contains(ending.count) && ending.allSatisfy { $0.isLetter || $0.isNumber || $0 == "+" }
            && !word.contains("::")
    }
}
