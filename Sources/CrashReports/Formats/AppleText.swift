import ForeignText

/// Apple's text form: `.crash`, what Console and TestFlight show, and the translation in front of a full report.
struct AppleText {
    private var lines: [String]

    private init(_ lines: ReportLines) {
        var lines = lines
        lines.removePrefix(before: "Incident Identifier:")
        lines.removePrefix(before: "Process:  ")
        self.lines = lines.lines
    }

    /// What a line belongs to.
    private enum Part { case header, message, exception, crashed, other, images }

    private var part = Part.header
    private var header: [String: String] = [:]
    private var message: [String] = []
    private var exceptionCalls: [CallLine] = []
    private var exceptionAddresses: [UInt64] = []
    private var crashedCalls: [CallLine] = []
    private var images: [LoadedImage] = []

    static func read(_ lines: ReportLines) throws(CrashReportError) -> CrashReport {
        var reader = AppleText(lines)
        return try reader.read()
    }

    private mutating func read() throws(CrashReportError) -> CrashReport {
        for line in lines { read(line) }
        let calls = exceptionCalls.isEmpty && exceptionAddresses.isEmpty ? crashedCalls : exceptionCalls
        let found = LoadedImages(marked)
        var frames = calls.map { frame($0, found) }
        if calls.isEmpty {
            frames = exceptionAddresses.enumerated().map { index, address in
                frame(at: address, isInnermost: index == 0, found)
            }
        }
        guard !frames.isEmpty else { throw CrashReportError.noCrash }
        var report = CrashReport(format: .appleText, reason: header["Exception Type"]?.cleanLine(200) ?? "unknown")
        report.frames = frames
        report.program = header["Process"].map(Self.withoutNumber)?.cleanLine(200)
        report.bundle = header["Identifier"]?.cleanLine(200)
        (report.version, report.build) = Self.version(header["Version"] ?? "")
        report.at = header["Date/Time"].flatMap(CrashDate.parse)
        report.system = header["OS Version"]?.cleanLine(200)
        report.architecture = header["Code Type"].flatMap(Architecture.name)
        report.message = said
        report.settle(images: found.all)
        return report
    }

    private var said: String? {
        let dull: Set<String> = ["abort() called", "dyld2 mode", "dyld3 mode", "dyld4 config:"]
        if let said = message.filter({ !dull.contains($0.trimmed) }).joined(separator: "\n").cleanText() { return said }
        return
            (header["Exception Subtype"] ?? header["Exception Message"] ?? header["Termination Description"]
            ?? header["Termination Reason"])?.cleanText()
    }

    private mutating func read(_ line: String) {
        switch part {
        case .images:
            if let image = Self.image(line), images.count < CrashLimits.images { images.append(image) }
            return
        case .message:
            if !line.trimmed.isEmpty, !startsPart(line) {
                if message.count < 50 { message.append(line) }
                return
            }
        case .crashed, .exception:
            if let call = CallLine(line) {
                if part == .crashed, crashedCalls.count < CrashLimits.frames { crashedCalls.append(call) }
                if part == .exception, exceptionCalls.count < CrashLimits.frames { exceptionCalls.append(call) }
                return
            }
            if part == .exception, line.hasPrefix("(0x") {
                exceptionAddresses = line.dropFirst().split { $0 == " " || $0 == ")" }.prefix(CrashLimits.frames)
                    .compactMap {
                        UInt64($0.dropFirst(2), radix: 16)
                    }
                return
            }
        case .header, .other: break
        }
        guard !line.trimmed.isEmpty else {
            if part != .header { part = .other }
            return
        }
        if !startsPart(line, &part), part == .header || part == .other { readHeader(line) }
    }

    private func startsPart(_ line: String) -> Bool {
        var part = part
        return startsPart(line, &part)
    }

    /// Whether the line begins a part, which it then is.
    private func startsPart(_ line: String, _ part: inout Part) -> Bool {
        if line.hasPrefix("Application Specific Information:") || line.hasPrefix("Application Specific Signatures:") {
            part = .message
        } else if line.hasPrefix("Last Exception Backtrace:") || line.hasPrefix("Application Specific Backtrace") {
            // The backtrace of the program is that of the exception, too.
            part = exceptionCalls.isEmpty ? .exception : .other
        } else if line.hasPrefix("Binary Images:") {
            part = .images
        } else if line.hasPrefix("Thread "), line.utf8.contains(0x3A) {
            if line.byteRange(of: " Crashed:") != nil {
                part = crashedCalls.isEmpty ? .crashed : .other
            } else if line.byteRange(of: " name:") == nil {
                part = .other
            }
        } else {
            return false
        }
        return true
    }

    private mutating func readHeader(_ line: String) {
        guard let colon = line.utf8.firstIndex(of: 0x3A), header.count < 100 else { return }
        let key = String(line[..<colon]).trimmed
        guard key.utf8.count < 40, header[key] == nil else { return }
        let value = String(line[line.utf8.index(after: colon)...]).trimmed
        if !value.isEmpty { header[key] = value }
    }

    /// `0x102230000 - 0x10223bfff +com.example.shop (1.0 - 1) <82d1…> /Applications/Shop.app/Contents/MacOS/Shop`
    private static func image(_ line: String) -> LoadedImage? {
        var scanner = LineScanner(line)
        scanner.skipSpaces()
        guard let start = scanner.hexadecimal() else { return nil }
        scanner.skipSpaces()
        guard scanner.take("-") else { return nil }
        scanner.skipSpaces()
        guard let end = scanner.hexadecimal(), end >= start else { return nil }
        scanner.skipSpaces()
        let isMarked = scanner.take("+")
        let rest = scanner.text
        var name = rest.trimmed
        var path = ""
        var identifier: String?
        if let open = rest.byteRange(of: "<"), let close = rest[open.upperBound...].byteRange(of: ">") {
            name = String(rest[..<open.lowerBound]).trimmed
            path = String(rest[close.upperBound...]).trimmed
            identifier = String(rest[open.upperBound..<close.lowerBound]).imageIdentifier
        } else if let slash = rest.byteRange(of: " /") {
            name = String(rest[..<slash.lowerBound]).trimmed
            path = String(rest[slash.lowerBound...]).trimmed
        }
        if let version = name.byteRange(of: " (") { name = String(name[..<version.lowerBound]) }
        var architecture: String?
        if let space = name.lastIndex(of: " "),
            let known = Architecture.name(String(name[name.index(after: space)...])),
            architectures.contains(known)
        {
            architecture = String(name[name.index(after: space)...]).cleanLine(20)
            name = String(name[..<space]).trimmed
        }
        let file = path.fileName
        return LoadedImage(
            name: (file.isEmpty ? name : file).cleanLine(200) ?? "???", path: path.cleanLine() ?? "",
            identifier: identifier, architecture: architecture, start: start,
            end: end == .max ? end : end + 1, isProgram: isMarked && !OwnCode.isRuntime(image: file))
    }

    private static let architectures: Set<String> = ["arm64", "x86_64", "i386", "armv7"]

    /// The images, of which the program's own is marked.
    private var marked: [LoadedImage] {
        let path = header["Path"]
        return images.map { image in
            var image = image
            if let path, !path.isEmpty { image.isProgram = image.isProgram || image.path == path }
            return image
        }
    }

    private func frame(_ call: CallLine, _ images: LoadedImages) -> CrashReport.Frame {
        let image = images.image(at: call.address) ?? images.image(named: call.image)
        var frame = CrashReport.Frame(image: image?.name ?? call.image.cleanLine(200))
        let isReturn = call.number > 0
        if let image, call.address >= image.start, call.address < image.end {
            frame.offset = call.address - image.start
        } else {
            frame.offset = call.offset
        }
        if isReturn, let offset = frame.offset, offset > 0 { frame.offset = offset - 1 }
        (frame.function, frame.file, frame.line) = (call.function, call.file, call.line)
        let isOwnImage = image?.isOwn ?? isOwnName(call.image)
        frame.isOwn =
            isOwnImage && !OwnCode.isRuntime(function: frame.function ?? "")
            && !OwnCode.isSystem(source: frame.file ?? "")
        return frame
    }

    private func frame(at address: UInt64, isInnermost: Bool, _ images: LoadedImages) -> CrashReport.Frame {
        guard let image = images.image(at: address) else { return CrashReport.Frame(image: "???") }
        let offset = address - image.start
        return CrashReport.Frame(
            image: image.name, offset: isInnermost || offset == 0 ? offset : offset - 1, isOwn: image.isOwn)
    }

    /// Where the report has no list of images.
    private func isOwnName(_ name: String) -> Bool {
        guard images.isEmpty else { return false }
        let program = header["Process"].map(Self.withoutNumber)
        return name == program || name == header["Identifier"]
    }

    /// `Shop [455]` without the number of the process.
    private static func withoutNumber(_ text: String) -> String {
        text.byteRange(of: " [").map { String(text[..<$0.lowerBound]) } ?? text
    }

    /// `1.4.2 (317)`, and `317 (1.4.2)` as iOS wrote it until version 13.
    private static func version(_ text: String) -> (String?, String?) {
        guard let open = text.byteRange(of: "("), text.hasSuffix(")") else { return (known(text), nil) }
        let first = known(String(text[..<open.lowerBound]).trimmed)
        let second = known(String(text[open.upperBound...].dropLast()).trimmed)
        let isSwapped = first?.contains(".") == false && second?.contains(".") == true
        return isSwapped ? (second, first) : (first, second)
    }

    private static func known(_ text: String) -> String? { text == "???" ? nil : text.cleanLine(100) }
}
