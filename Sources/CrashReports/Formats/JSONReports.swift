import ForeignText

/// Reports that are JSON: Apple's since iOS 15 and macOS 12, and Swift's with `format=json`.
///
/// Only the parts that say something are kept while the text goes by; a report has thousands of numbers beside them.
struct JSONReports {
    private var values: [String: JSONValue] = [:]
    private var threads: [JSONValue] = []
    private var threadCount = 0
    private var images: [JSONValue] = []
    private var isComplete = false

    static func read(_ bytes: [UInt8]) throws(CrashReportError) -> CrashReport {
        var reports = JSONReports()
        try reports.collect(bytes)
        if reports.values["kind"]?.text == "crashReport" { return try SwiftJSON(reports.parts).read() }
        guard reports.threadCount > 0 || reports.values["lastExceptionBacktrace"] != nil else {
            let isOther = reports.values["bug_type"] != nil || reports.values["incident"] != nil
            throw isOther
                ? CrashReportError.noCrash
                : CrashReportError(
                    .unknownFormat, "The file is JSON, but no crash report of Apple or Swift. Send the report itself.")
        }
        return try AppleJSON(reports.parts).read()
    }

    private var parts: JSONParts { JSONParts(values: values, threads: threads, images: images) }

    private mutating func collect(_ bytes: [UInt8]) throws(CrashReportError) {
        var isRead = false
        let source = ByteSource {
            defer { isRead = true }
            return isRead ? [] : bytes
        }
        var walk = JSONWalk(JSONTokenizer(source, valueLimit: 8 << 10, depth: CrashLimits.depth))
        var depth = 0
        while true {
            switch walk.next() {
            case .finished: return
            case .broken(let what):
                if isComplete { return }
                throw CrashReportError(.broken, "The report \(what). Send the whole file, unchanged.")
            case .leave:
                depth -= 1
                // What follows the report is no matter of ours: a letter, a list of devices.
                if depth == 0, threadCount > 0 {
                    isComplete = true
                    return
                }
            case .value(let path, let token):
                if try !keep(path, token, &walk) { depth += 1 }
            }
        }
    }

    /// Takes or skips a value. Returns false for an object or a list whose members follow.
    private mutating func keep(_ path: String, _ token: JSONToken, _ walk: inout JSONWalk) throws(CrashReportError)
        -> Bool
    {
        switch (path, token) {
        case ("", .beginObject), ("threads", .beginArray), ("usedImages", .beginArray), ("images", .beginArray):
            return false
        case ("threads[]", _):
            defer { threadCount += 1 }
            let thread = try taken(token, &walk)
            let isCrashed = thread["triggered"]?.isTrue == true || thread["crashed"]?.isTrue == true
            let isNamed = values["faultingThread"]?.int == threadCount
            if (isCrashed || isNamed) && threads.count < 4 { threads.append(thread) }
        case ("usedImages[]", _), ("images[]", _):
            let image = try taken(token, &walk)
            if images.count < CrashLimits.images { images.append(image) }
        case _ where Self.wanted.contains(path): values[path] = try taken(token, &walk)
        default: if !walk.skip(token) { throw Self.cut }
        }
        return true
    }

    private func taken(_ token: JSONToken, _ walk: inout JSONWalk) throws(CrashReportError) -> JSONValue {
        guard let value = walk.take(token) else { throw Self.cut }
        return value
    }

    private static let cut = CrashReportError(.broken, "The report ends in the middle. Send the whole file, unchanged.")

    private static let wanted: Set<String> = [
        "app_name", "app_version", "build_version", "bundleID", "bug_type", "timestamp", "os_version", "procName",
        "procPath", "bundleInfo", "captureTime", "osVersion", "cpuType", "exception", "termination", "asi",
        "faultingThread", "lastExceptionBacktrace", "exceptionReason", "incident", "kind", "description", "platform",
        "architecture", "asiBacktraces",
    ]
}

/// What was kept of a report in JSON.
struct JSONParts {
    var values: [String: JSONValue]
    /// The threads that crashed.
    var threads: [JSONValue]
    var images: [JSONValue]

    subscript(_ key: String) -> JSONValue? { values[key] }

    func line(_ key: String) -> String? { values[key]?.text?.cleanLine(200) }
}

extension JSONValue {
    /// A number that is an address or an offset.
    var address: UInt64? {
        if let text { return text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text) }
        return number.flatMap { UInt64(exactly: $0) }
    }

    /// A line of a source file.
    var lineNumber: Int? { int.flatMap { (1...10_000_000).contains($0) ? $0 : nil } }
}
