import ForeignText

/// What Swift's runtime prints when a program crashes: its backtrace since 5.9, with or without colours and source, the
/// stack traces of earlier versions and of the package swift-backtrace, or only the line of a fatal error.
struct SwiftBacktrace {
    private let lines: [String]
    private var reason: String?
    private var message: String?
    /// The place that a fatal error names.
    private var errorPlace: (file: String, line: Int)?
    private var system: String?
    private var architecture: String?
    private var calls: [(frame: CrashReport.Frame, address: UInt64?, isReturn: Bool, isSystem: Bool)] = []
    private var images: [LoadedImage] = []

    private enum Part { case before, crashed, legacy, other, images }
    private var part = Part.before

    private init(_ lines: ReportLines) {
        var lines = lines
        for marker in [
            "*** Signal ", "*** Program crashed: ", "*** Swift runtime failure: ", "\u{1F4A3} Program crashed: ",
            "Current stack trace:",
        ]
        where lines.lines.contains(where: { $0.byteRange(of: marker) != nil }) {
            lines.removePrefix(before: marker)
            break
        }
        self.lines = lines.lines
    }

    static func read(_ lines: ReportLines) throws(CrashReportError) -> CrashReport {
        var reader = SwiftBacktrace(lines)
        return try reader.read()
    }

    private mutating func read() throws(CrashReportError) -> CrashReport {
        for line in lines { read(line) }
        let found = LoadedImages(images)
        var report = CrashReport(format: .swiftBacktrace, reason: reason ?? "Fatal error")
        report.frames = calls.map { call in
            var frame = call.frame
            let image = call.address.flatMap(found.image(at:)) ?? frame.image.flatMap(found.image(named:))
            if let image, let address = call.address, address >= image.start {
                frame.image = image.name
                frame.offset = address - image.start - (call.isReturn && address > image.start ? 1 : 0)
            }
            frame.isOwn = !call.isSystem && Self.isOwn(frame, image)
            return frame
        }
        if report.frames.isEmpty, let errorPlace {
            var frame = CrashReport.Frame()
            Self.place(&frame, file: errorPlace.file, line: errorPlace.line, column: nil)
            frame.isOwn = !OwnCode.isSystem(source: errorPlace.file)
            report.frames = [frame]
        }
        (report.message, report.system, report.architecture) = (message, system, architecture)
        report.settle(images: found.all)
        guard !report.frames.isEmpty else { throw CrashReportError.noCrash }
        return report
    }

    private mutating func read(_ line: String) {
        if calls.isEmpty, readError(line) || readHeading(line) { return }
        switch part {
        case .crashed:
            if line.hasPrefix("Thread ") || line.hasPrefix("Registers:") || line.hasPrefix("Images (")
                || line == "Images:"
            {
                part = line.hasPrefix("Images") ? .images : .other
            } else if !line.utf8.contains(0xE2) || line.byteRange(of: "\u{2502}") == nil {
                // A line of source has a bar.
                readCall(line)
            }
        case .legacy: readLegacy(line)
        case .images: if let image = Self.image(line), images.count < CrashLimits.images { images.append(image) }
        case .before, .other:
            if line.hasPrefix("Images (") || line == "Images:" { part = .images }
        }
    }

    /// `Shop/Cart.swift:12: Fatal error: message`, `Fatal error: message: file Cart.swift, line 12`
    private mutating func readError(_ line: String) -> Bool {
        guard message == nil,
            let range = line.byteRange(of: "Fatal error: ") ?? line.byteRange(of: "fatal error: ")
                ?? line.byteRange(of: "Swift runtime failure: ")
        else { return false }
        var text = String(line[range.upperBound...]).trimmed
        if text.hasSuffix(" ***") {
            text = String(text.dropLast(4))
            reason = "Swift runtime failure"
        }
        let before = String(line[..<range.lowerBound]).trimmed
        if before.hasSuffix(":"), let place = Self.filePlace(String(before.dropLast())) {
            errorPlace = place
        } else if let file = text.byteRange(of: ": file "),
            let comma = text[file.upperBound...].byteRange(of: ", line ")
        {
            var number = LineScanner(text[comma.upperBound...])
            if let line = number.number(), line > 0 {
                errorPlace = (String(text[file.upperBound..<comma.lowerBound]), line)
            }
            text = String(text[..<file.lowerBound])
        }
        message = text.cleanText()
        return true
    }

    /// `Cart.swift:12` or `/a/Cart.swift:12:5` at the end of a line of a log.
    private static func filePlace(_ text: String) -> (file: String, line: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last.flatMap({ Int($0) }), last > 0, last <= 10_000_000 else { return nil }
        var (line, rest) = (last, parts.dropLast())
        if let earlier = rest.last.flatMap({ Int($0) }), earlier > 0, rest.count > 1 {
            (line, rest) = (earlier, rest.dropLast())
        }
        let path = rest.joined(separator: ":")
        let name = path.split(separator: " ").last.map(String.init) ?? ""
        return name.isEmpty ? nil : (path.hasPrefix("/") ? path : name, line)
    }

    private mutating func readHeading(_ line: String) -> Bool {
        if let range = line.byteRange(of: "Program crashed: ")
            ?? (line.hasPrefix("Crash: ") ? line.byteRange(of: "Crash: ") : nil)
        {
            var text = String(line[range.upperBound...])
            // With colours, the line is written twice.
            if let last = text.byteRange(of: "Program crashed: ") { text = String(text[last.upperBound...]) }
            if let address = text.byteRange(of: " at 0x") { text = String(text[..<address.lowerBound]) }
            if text.hasSuffix(" ***") { text = String(text.dropLast(4)) }
            if !text.hasPrefix("Signal ") { reason = text.trimmed.cleanLine(200) }
            if part == .legacy { part = .other }
        } else if let range = line.byteRange(of: "Platform: ") {
            let words = line[range.upperBound...].split(separator: " ", maxSplits: 1)
            architecture = words.first.flatMap { Architecture.name(String($0)) }
            system = words.dropFirst().first.flatMap { String($0).cleanLine(200) }
        } else if line.hasPrefix("Thread "), line.trimmed.hasSuffix("crashed:") {
            part = .crashed
        } else if line.hasPrefix("Crash in ") || line.trimmed == "Crashed thread:" {
            part = .crashed
        } else if line.byteRange(of: "Current stack trace:") != nil {
            part = .legacy
        } else if let range = line.byteRange(of: "Received signal "), line.byteRange(of: "Backtrace:") != nil {
            var scanner = LineScanner(line[range.upperBound...])
            if reason == nil { reason = scanner.number().map { Self.signals[$0] ?? "Signal \($0)" } }
            part = .legacy
        } else {
            return false
        }
        return true
    }

    private static let signals = [
        4: "Illegal instruction", 5: "System trap", 6: "Aborted", 7: "Bus error", 8: "Floating point exception",
        10: "Bus error", 11: "Segmentation fault",
    ]

    /// `3 [ra] [inlined] 0x00005600be4ba111 Cart.total(at:) + 64 in shop at /src/Cart.swift:2:54`
    private mutating func readCall(_ line: String) {
        guard calls.count < CrashLimits.frames else { return }
        var scanner = LineScanner(line)
        scanner.skipSpaces()
        guard scanner.number() != nil, scanner.rest.first == 0x20 else { return }
        scanner.skipSpaces()
        var marks: Set<String> = []
        while scanner.take("["), let mark = scanner.until(UInt8(ascii: "]")) {
            marks.insert(mark)
            scanner.skipSpaces()
        }
        let address = scanner.hexadecimal()
        scanner.skipSpaces()
        var text = scanner.text
        guard address != nil || text.byteRange(of: " in ") != nil else { return }
        var frame = CrashReport.Frame()
        // The path comes last; a name of a function has no " at /".
        if let at = text.byteRange(of: " at /") ?? text.byteRange(of: " at <") ?? Self.relativePlace(text) {
            let place = text[text.utf8.index(at.lowerBound, offsetBy: 4)...]
            let (file, line, column) = Self.splitPlace(String(place).trimmed)
            Self.place(&frame, file: file, line: line, column: column)
            text = String(text[..<at.lowerBound])
        }
        if let image = Self.lastRange(of: " in ", text) {
            frame.image = String(text[image.upperBound...]).cleanLine(200)
            text = String(text[..<image.lowerBound])
        }
        let name = Self.withoutOffset(text)
        frame.function = name == "<unknown>" ? nil : name.cleanLine()
        let isSystem = marks.contains("system") || marks.contains("thunk") && frame.file == nil
        // Before Swift 6 inlined calls have the address of the call around them, so all marked ones are alike.
        calls.append((frame, address, marks.contains("ra") || marks.contains("async"), isSystem))
    }

    /// The last ` at Cart.swift:12` of a line.
    private static func relativePlace(_ text: String) -> Range<String.Index>? {
        guard let at = lastRange(of: " at ", text) else { return nil }
        let (file, line, _) = splitPlace(String(text[at.upperBound...]).trimmed)
        return line != nil && !file.contains(" ") && file.contains(".") ? at : nil
    }

    /// `7    App    0x0000560f8239a4c0 <unavailable> + 3138752`, `0x560f8219b349, closure #1 in f() at /src/a.swift:12`
    private mutating func readLegacy(_ line: String) {
        guard calls.count < CrashLimits.frames else { return }
        if let call = CallLine(line) {
            var frame = CrashReport.Frame(image: call.image.cleanLine(200))
            frame.offset = call.offset.map { $0 > 0 ? $0 - 1 : $0 }
            frame.function = call.function
            Self.place(&frame, file: call.file, line: call.line, column: nil)
            calls.append((frame, nil, true, false))
            return
        }
        var scanner = LineScanner(line)
        scanner.skipSpaces()
        if scanner.take("+ ") { scanner.skipSpaces() }
        guard scanner.hexadecimal() != nil, scanner.take(", ") || scanner.take(" ") else { return }
        var text = scanner.text
        var frame = CrashReport.Frame()
        if let at = Self.lastRange(of: " at /", text) {
            let place = text[text.utf8.index(at.lowerBound, offsetBy: 4)...]
            let (file, line, column) = Self.splitPlace(String(place).trimmed)
            Self.place(&frame, file: file, line: line, column: column)
            text = String(text[..<at.lowerBound])
        }
        frame.function = Self.withoutOffset(text).cleanLine()
        // The trace begins in what prints it.
        let isPrinter = frame.function?.contains("Backtrace.") == true
        calls.append((frame, nil, true, isPrinter))
    }

    /// `0x00005600be4b8000–0x00005600be4ba9b8 9c9b64f5 shop   /src/shop`
    private static func image(_ line: String) -> LoadedImage? {
        var scanner = LineScanner(line)
        scanner.skipSpaces()
        guard let start = scanner.hexadecimal(), scanner.take("\u{2013}") || scanner.take("-"),
            let end = scanner.hexadecimal(), end > start
        else { return nil }
        scanner.skipSpaces()
        let identifier: String?
        if scanner.take("<no build ID>") { identifier = nil } else { identifier = scanner.word().imageIdentifier }
        scanner.skipSpaces()
        let rest = scanner.text
        let path = rest.byteRange(of: " /").map { String(rest[$0.lowerBound...]).trimmed } ?? ""
        let name = rest.byteRange(of: " /").map { String(rest[..<$0.lowerBound]).trimmed } ?? rest.trimmed
        return LoadedImage(
            name: name.cleanLine(200) ?? "???", path: path.cleanLine() ?? "", identifier: identifier, start: start,
            end: end)
    }
}

// What the readers of Swift's forms share.
extension SwiftBacktrace {
    /// `Cart.total() + 60` without the offset.
    static func withoutOffset(_ text: String) -> String {
        let bytes = Array(text.trimmed.utf8)
        var end = bytes.endIndex
        while end > 0, bytes[end - 1].isDigit { end -= 1 }
        guard end < bytes.endIndex, end >= 3, bytes[(end - 3)..<end].elementsEqual(" + ".utf8) else {
            return text.trimmed
        }
        return String(decoding: bytes[..<(end - 3)], as: UTF8.self).trimmed
    }

    /// `/src/Cart.swift:2:54`
    static func splitPlace(_ text: String) -> (String, Int?, Int?) {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var numbers: [Int] = []
        while numbers.count < 2, parts.count > 1, let number = parts.last.flatMap({ Int($0) }), number >= 0 {
            numbers.insert(number, at: 0)
            parts.removeLast()
        }
        return (parts.joined(separator: ":"), numbers.first, numbers.count == 2 ? numbers[1] : nil)
    }

    /// Sets the place in the source unless the compiler made the code.
    static func place(_ frame: inout CrashReport.Frame, file: String?, line: Int?, column: Int?) {
        guard let file, !file.contains("<compiler-generated>") else { return }
        frame.file = file.cleanLine()
        let allowed = 1...10_000_000
        frame.line = line.flatMap { allowed.contains($0) ? $0 : nil }
        frame.column = frame.line == nil ? nil : column.flatMap { allowed.contains($0) ? $0 : nil }
    }

    static func isOwn(_ frame: CrashReport.Frame, _ image: LoadedImage?) -> Bool {
        if let image, !image.isOwn { return false }
        if let name = frame.image, image == nil {
            let isLibrary = name.hasPrefix("lib") && (name.contains(".so") || name.hasSuffix(".dylib"))
            if isLibrary && frame.file == nil || OwnCode.isSystem(path: name) { return false }
        }
        if let file = frame.file, OwnCode.isSystem(source: file) { return false }
        return !OwnCode.isRuntime(function: frame.function ?? "")
    }

    static func lastRange(of text: String, _ whole: String) -> Range<String.Index>? {
        var found: Range<String.Index>?
        var rest = whole[...]
        while let range = rest.byteRange(of: text) {
            found = range
            rest = rest[range.upperBound...]
        }
        return found
    }
}
