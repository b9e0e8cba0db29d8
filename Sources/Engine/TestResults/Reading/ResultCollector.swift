/// Gathers the results of one file and keeps them within the limits.
struct ResultCollector {
    let name: String
    let limits: TestResultLimits
    private(set) var results = TestResults()
    private var attempts: [String: Int] = [:]
    private var textBytes = 0
    private var lastSuite = ""
    private var said: Set<String> = []
    private(set) var isFull = false

    init(name: String, limits: TestResultLimits) {
        self.name = name
        self.limits = limits
    }

    /// Adds one try; its ``TestResult/attempt`` is counted here, over all tries of the same test so far.
    mutating func add(_ result: TestResult) {
        let limits = limits
        guard results.tests.count < limits.tests else {
            isFull = true
            say(
                "holds more than \(limits.tests) tests: those after that are not in this report", key: "tests",
                suggestion: "Write one result file per target, or raise the limit of tests per file.")
            return
        }
        var result = result
        let spent = textBytes >= limits.totalBytes
        if spent {
            say(
                "holds more than \(limits.totalBytes) bytes of text: later tests keep only their name and status",
                key: "text", suggestion: "Print less in tests that fail, or write one result file per target.")
        }
        let nameLimit = spent ? min(256, limits.nameBytes) : limits.nameBytes
        result.suite = shortened(result.suite, to: nameLimit)
        // Tests of one suite come together; sharing the text saves one allocation each.
        if result.suite == lastSuite { result.suite = lastSuite } else { lastSuite = result.suite }
        result.name = shortened(result.name, to: nameLimit)
        result.file = result.file.map { shortened($0, to: nameLimit) }
        result.message = spent ? nil : cut(result.message)
        result.details = spent ? nil : cut(result.details)
        if let duration = result.duration, !(0...1e9 ~= duration) { result.duration = nil }
        if let line = result.line, line < 1 { result.line = nil }
        textBytes += result.suite.utf8.count + result.name.utf8.count + (result.file?.utf8.count ?? 0)
        textBytes += (result.message?.utf8.count ?? 0) + (result.details?.utf8.count ?? 0)
        let attempt = (attempts[result.id] ?? 0) + 1
        attempts[result.id] = attempt
        result.attempt = attempt
        results.tests.append(result)
    }

    /// Adds a finding about the file once per `key`, at most 100 in all.
    mutating func say(
        _ what: @autoclosure () -> String, key: String? = nil, line: Int? = nil, severity: Finding.Severity = .warning,
        suggestion: String
    ) {
        guard results.findings.count < 100, said.insert(key ?? what()).inserted else { return }
        results.findings.append(
            Finding(
                rule: "result-file", severity: severity, message: "\(name) \(what()).", file: name, line: line,
                suggestion: suggestion))
    }

    /// Adds a finding that is not about the file itself, under the same bound.
    mutating func add(_ finding: Finding) {
        guard results.findings.count < 100 else { return }
        var finding = finding
        finding.message = cut(finding.message) ?? ""
        finding.file = finding.file.map { shortened($0, to: limits.nameBytes) }
        results.findings.append(finding)
    }

    private func cut(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return text.cut(to: limits.fieldBytes)
    }

    private func shortened(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        // FNV-1a: only to keep two long names apart, so a forged collision costs its author a test.
        let digest = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return text.prefix(bytes: max(0, limit - 20)) + "…#" + String(digest, radix: 16)
    }
}
