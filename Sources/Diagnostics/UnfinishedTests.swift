import ForeignText
public import Results

/// Finds the tests that had started but not ended when a step was ended by a time-out or a signal.
public enum UnfinishedTests {
    /// The rule of the findings.
    public static let rule = "unfinished-test"
    private static let limit = 10

    /// A finding for each such test, at most ten, from the output of Swift Testing, XCTest, CTest or `pytest -v`.
    package static func findings(in text: some Collection<UInt8>) -> [Finding] {
        // The tests that have started, by name, with their position.
        var begun: [Substring: Int] = [:]
        var (count, last) = (0, Substring())
        // Shorter lines name no test.
        LogLines.each(in: text.suffix(1 << 20), lineLimit: 1_000, isSkipped: { $0 < 7 }) { line in
            last = line
            if let name = start(line) {
                count += 1
                if begun.count < 10_000, begun[name] == nil { begun[name] = count }
            } else if let name = end(line) {
                begun[name] = nil
            }
        }
        if let name = pytest(last) { begun[name] = count + 1 }
        return begun.sorted { $0.value < $1.value }.prefix(limit).map { name, _ in
            Finding(
                rule: rule, severity: .error, message: "test \"\(name)\" started but did not end",
                suggestion: "check what it waits for, or which limit it reached")
        }
    }

    /// The name of the test that a finding of this rule is about; nil for findings of other rules.
    public static func name(in finding: Finding) -> String? {
        guard finding.rule == rule, let first = finding.message.firstIndex(of: "\""),
            let last = finding.message.lastIndex(of: "\""), first < last
        else { return nil }
        return String(finding.message[finding.message.index(after: first)..<last])
    }

    private static func start(_ line: Substring) -> Substring? {
        if line.hasSuffix(" started."), let test = line.byteRange(of: " Test ") {
            let name = line[test.upperBound...].dropLast(9)
            return name == "run" || name.hasPrefix("case ") ? nil : unquoted(name)
        }
        if line.startsWith(bytesOf: "Test Case '"), line.byteRange(of: "' started") != nil {
            return quoted(line.dropFirst(11))
        }
        let text = line.drop { $0 == " " }
        guard text.startsWith(bytesOf: "Start "), let colon = text.byteRange(of: ": ") else { return nil }
        let number = text[..<colon.lowerBound].dropFirst(6).drop { $0 == " " }
        return number.allSatisfy(\.isNumber) ? text[colon.upperBound...] : nil
    }

    private static func end(_ line: Substring) -> Substring? {
        if let test = line.byteRange(of: " Test ") {
            for word in [" passed after ", " failed after ", " skipped"] {
                if let end = line.byteRange(of: word), test.upperBound < end.lowerBound {
                    return unquoted(line[test.upperBound..<end.lowerBound])
                }
            }
        }
        if line.startsWith(bytesOf: "Test Case '") { return quoted(line.dropFirst(11)) }
        // `1/2 Test #1: name ....   Passed`
        if let test = line.byteRange(of: " Test "), let colon = line[test.upperBound...].byteRange(of: ": ") {
            return line[colon.upperBound...].prefix { $0 != " " && $0 != "." }
        }
        return nil
    }

    /// `tests/test_a.py::test_x` with nothing after it, or with what a shell prints about a process that was killed.
    private static func pytest(_ line: Substring) -> Substring? {
        var text = line
        for ending in ["Killed", "Terminated", "Aborted", "Segmentation fault"] {
            if let end = text.byteRange(of: " \(ending)"), text.byteRange(of: ".py::") != nil {
                text = text[..<end.lowerBound]
            }
        }
        while text.last == " " { text.removeLast() }
        guard text.byteRange(of: ".py::") != nil, !text.contains(" ") else { return nil }
        return text
    }

    private static func quoted(_ text: Substring) -> Substring { text.prefix { $0 != "'" } }

    private static func unquoted(_ text: Substring) -> Substring {
        text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 2 ? text.dropFirst().dropLast() : text
    }
}
