import ForeignText

extension ReportLines {
    /// The format that a line gives away; nil if none does.
    var format: CrashReport.Format? {
        var apple = 0
        var swift = false
        for line in lines {
            guard line.utf8.contains(0x3A) else { continue }
            if Self.isSanitizer(line) { return .sanitizer }
            if Self.appleKeys.contains(where: { line.byteRange(of: $0) != nil }) {
                apple += 1
                if apple == 2 { return .appleText }
            } else if !swift {
                swift = Self.swiftWords.contains { line.byteRange(of: $0) != nil }
            }
        }
        return swift ? .swiftBacktrace : apple > 0 ? .appleText : nil
    }

    private static func isSanitizer(_ line: String) -> Bool {
        if line.byteRange(of: "Sanitizer: ") != nil {
            return ["ERROR: ", "WARNING: ", "SUMMARY: "].contains { line.byteRange(of: $0) != nil }
        }
        return line.byteRange(of: "ERROR: libFuzzer: ") != nil || line.byteRange(of: ": runtime error: ") != nil
    }

    private static let appleKeys = [
        "Incident Identifier:", "Exception Type:", "Triggered by Thread:", "Crashed Thread:", "Binary Images:",
        "CrashReporter Key:", "Exception Codes:",
    ]
    private static let swiftWords = [
        "Program crashed: ", "Current stack trace:", "Fatal error: ", "fatal error: ", ". Backtrace:",
        "Swift runtime failure: ", "Crash: ",
    ]
}
