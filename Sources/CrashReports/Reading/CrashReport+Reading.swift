import ForeignText

extension CrashReport {
    /// Reads a report in any of the formats, which its content tells.
    ///
    /// What it takes from a report is clean text of bounded size; it is still what a stranger wrote.
    public static func read(_ bytes: [UInt8]) throws(CrashReportError) -> CrashReport {
        let report = try reading(bytes)
        // Calls of which nothing is known are no calls.
        guard !report.frames.isEmpty else { throw CrashReportError.noCrash }
        return report
    }

    private static func reading(_ bytes: [UInt8]) throws(CrashReportError) -> CrashReport {
        guard bytes.count <= CrashLimits.bytes else {
            throw CrashReportError(
                .tooLarge,
                "The report has \(bytes.count) bytes; at most \(CrashLimits.bytes) are read. Send the part with the crash."
            )
        }
        let start = bytes.firstIndex { !$0.isXMLSpace && ![0xEF, 0xBB, 0xBF].contains($0) }
        guard let start else {
            throw CrashReportError(.empty, "The report is empty. Send the file that has the crash.")
        }
        if bytes[start] == UInt8(ascii: "{") {
            let line = bytes[start...].prefix { $0 != .newline }
            let body = bytes[line.endIndex...].first { !$0.isXMLSpace }
            // Apple's first header before an older report: one line of JSON, then text.
            if line.count > 1, let body, body != UInt8(ascii: "{"), line.last == UInt8(ascii: "}") {
                return try AppleText.read(ReportLines(Array(bytes[line.endIndex...])))
            }
            return try JSONReports.read(Array(bytes[start...]))
        }
        let lines = ReportLines(bytes)
        return switch lines.format {
        case .appleText: try AppleText.read(lines)
        case .sanitizer: try SanitizerText.read(lines)
        case .swiftBacktrace: try SwiftBacktrace.read(lines)
        case .appleJSON, nil:
            throw CrashReportError(
                .unknownFormat,
                "This is no crash report that pipectl reads: .ips and .crash of Apple, the backtrace of Swift, and the"
                    + " reports of sanitizers. Send one of these as the program wrote it.")
        }
    }
}

extension CrashReport.Frame {
    /// Whether it says anything at all.
    var isKnown: Bool { function != nil || file != nil || image != nil }
}

extension CrashReport {
    /// Decides what is the program's own where images and names don't tell, and keeps what frames need.
    mutating func settle(images all: [LoadedImage]) {
        frames = Array(frames.filter(\.isKnown).prefix(CrashLimits.frames))
        // Code of a package counts only where nothing of the program itself is left.
        let isDependency = frames.map { $0.isOwn && OwnCode.isDependency(source: $0.file ?? "") }
        if zip(frames, isDependency).contains(where: { $0.isOwn && !$1 }) {
            for index in frames.indices where isDependency[index] { frames[index].isOwn = false }
        }
        let used = Set(frames.compactMap(\.image))
        var seen: Set<String> = []
        images = all.compactMap { image in
            guard used.contains(image.name), seen.insert(image.name).inserted else { return nil }
            return Image(name: image.name, identifier: image.identifier, architecture: image.architecture)
        }
        if program == nil {
            program = all.first { $0.isProgram }?.name ?? frames.last { $0.isOwn && $0.image != nil }?.image
        }
    }
}

/// A loaded file with its place in memory.
struct LoadedImage {
    var name: String
    var path: String
    var identifier: String?
    var architecture: String?
    var start: UInt64
    /// The first address behind it.
    var end: UInt64
    /// Whether it is the program itself.
    var isProgram = false

    /// Whether its code is the program's.
    var isOwn: Bool { isProgram || !OwnCode.isSystem(path: path.isEmpty ? name : path) }
}

/// Loaded files, to be found by address.
struct LoadedImages {
    private(set) var all: [LoadedImage]
    private let sorted: [LoadedImage]

    init(_ all: [LoadedImage]) {
        self.all = all
        sorted = all.filter { $0.start < $0.end }.sorted { $0.start < $1.start }
    }

    func image(at address: UInt64) -> LoadedImage? {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, address < sorted[low - 1].end else { return nil }
        return sorted[low - 1]
    }

    func image(named name: String) -> LoadedImage? { all.first { $0.name == name } }
}
