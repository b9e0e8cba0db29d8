import ForeignText
import Results

/// Reads the output of `dart test --reporter json` and `flutter test --machine`, one event per line.
///
/// Source: https://github.com/dart-lang/test/blob/master/pkgs/test/doc/json_reporter.md
struct DartReading: JSONLineReading {
    static let format = ResultFormat(rawValue: "dart")

    var collector: ResultCollector
    private var suites: [Int: String] = [:]
    private var open: [Int: Running] = [:]
    private var order = 0
    private var hasEnded = false
    private var keptBytes = 0

    private struct Running {
        var order: Int
        var result: TestResult
        var suite: String
        var started: Double?
        var errors: [(text: String, trace: String?, isFailure: Bool)] = []
        var output: BoundedText
        var skipReason: String?
        /// The bytes of these texts, which are freed when the test ends.
        var keptBytes = 0
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("type") && start.keys.contains("time")
            && (start.keys.contains("protocolVersion") || start.keys.contains("suite") || start.keys.contains("test"))
            || start.lines.contains { $0.byteRange(of: "\"protocolVersion\":") != nil && $0.hasPrefix("{") }
    }

    mutating func take(_ value: JSONValue) {
        switch value["type"]?.text {
        case "suite":
            if let suite = value["suite"], let id = suite["id"]?.int, suites.count < collector.limits.tests {
                suites[id] = Self.short(suite["path"]?.text ?? "")
            }
        case "testStart": if let test = value["test"] { begin(test, value["time"]?.number) }
        case "print": print(value)
        case "error": error(value)
        case "testDone": if let id = value["testID"]?.int { end(id, value) }
        case "done": hasEnded = true
        default: break
        }
    }

    /// The path from its `test` folder on. Flutter gives absolute paths, which differ between machines.
    static func short(_ path: String) -> String {
        guard path.hasPrefix("/") || path.dropFirst().hasPrefix(":") else { return path }
        let parts = path.split { $0 == "/" || $0 == "\\" }
        let folders = ["test", "integration_test", "test_driver"]
        guard let start = parts.lastIndex(where: { folders.contains(String($0)) }) else {
            return parts.last.map(String.init) ?? path
        }
        return parts[start...].joined(separator: "/")
    }

    private mutating func begin(_ test: JSONValue, _ time: Double?) {
        guard let id = test["id"]?.int else { return }
        _ = close(id)
        guard open.count < collector.limits.tests else { return }
        order += 1
        let suite = test["suiteID"]?.int.flatMap { suites[$0] } ?? ""
        // The line in the test's own file, where a helper function declares the test elsewhere.
        let url = test["root_url"]?.text ?? test["url"]?.text
        let file = url.flatMap { $0.hasPrefix("file://") ? Self.short(String($0.dropFirst(7))) : nil } ?? suite
        open[id] = Running(
            order: order,
            result: TestResult(
                suite: suite, name: test["name"]?.text ?? "(unnamed)", status: .passed,
                file: file.isEmpty ? nil : file, line: test["root_line"]?.int ?? test["line"]?.int),
            suite: suite, started: time, output: BoundedText(limit: collector.limits.fieldBytes),
            skipReason: test["metadata"]?["skipReason"]?.text)
    }

    private mutating func print(_ value: JSONValue) {
        guard let id = value["testID"]?.int, let text = value["message"]?.text,
            keptBytes + text.utf8.count <= collector.limits.totalBytes
        else { return }
        if value["messageType"]?.text == "skip" {
            let mark = "Skip: "
            open[id]?.skipReason = text.hasPrefix(mark) ? String(text.dropFirst(mark.count)) : text
            keep(text.utf8.count, for: id)
        } else {
            keep(open[id]?.output.append((text + "\n").utf8) ?? 0, for: id)
        }
    }

    private mutating func keep(_ bytes: Int, for id: Int) {
        guard open[id] != nil else { return }
        open[id]?.keptBytes += bytes
        keptBytes += bytes
    }

    /// Removes the test from those that are running, and frees its texts.
    private mutating func close(_ id: Int) -> Running? {
        guard let test = open.removeValue(forKey: id) else { return nil }
        keptBytes -= test.keptBytes
        return test
    }

    private mutating func error(_ value: JSONValue) {
        guard let id = value["testID"]?.int, (open[id]?.errors.count ?? 50) < 50 else { return }
        let text = value["error"]?.text ?? ""
        let trace = value["stackTrace"]?.text
        guard keptBytes + text.utf8.count + (trace?.utf8.count ?? 0) <= collector.limits.totalBytes else { return }
        keep(text.utf8.count + (trace?.utf8.count ?? 0), for: id)
        open[id]?.errors.append((text, trace, value["isFailure"]?.isTrue ?? false))
    }

    private mutating func end(_ id: Int, _ value: JSONValue) {
        guard let test = close(id) else { return }
        let outcome = value["result"]?.text
        // Loading a file is a hidden test, which counts only if it failed.
        if value["hidden"]?.isTrue == true, outcome == "success" { return }
        var result = test.result
        if let from = test.started, let to = value["time"]?.number {
            result.duration = Seconds.ofMilliseconds(to - from)
        }
        if value["skipped"]?.isTrue == true {
            result.status = .skipped
            result.message = test.skipReason
            return collector.add(result, from: TestOrigin(suite: test.suite))
        }
        let failed = describe(test, in: result)
        if outcome == "success" {
            // A test that reports an error and then passes was retried: `retry:` of package:test.
            let tries = test.errors.isEmpty ? [result] : [failed, result]
            return collector.add(tries: tries, from: TestOrigin(suite: test.suite))
        }
        var last = failed
        last.status = outcome == "failure" ? .failed : .errored
        collector.add(last, from: TestOrigin(suite: test.suite))
    }

    private func describe(_ test: Running, in result: TestResult) -> TestResult {
        var result = result
        result.status = test.errors.allSatisfy(\.isFailure) ? .failed : .errored
        var parts = FailureParts()
        parts.message = test.errors.first?.text
        parts.trace = test.errors.enumerated().map { index, error in
            [index == 0 ? nil : error.text, error.trace].compactMap(\.self).joined(separator: "\n")
        }.joined(separator: "\n")
        let output = test.output.string
        parts.output = output.isEmpty ? nil : output
        parts.describe(&result)
        return result
    }

    mutating func finish() {
        for test in open.values.sorted(by: { $0.order < $1.order }) {
            var result = describe(test, in: test.result)
            result.status = .errored
            result.message = result.message ?? "The test started and never ended: its process crashed or was stopped."
            collector.add(result, from: TestOrigin(suite: test.suite))
        }
        if !hasEnded {
            collector.say(
                "does not say that the run ended", key: "end", severity: .error,
                suggestion: "The test process crashed or was stopped: check the end of the step's log.")
        }
    }
}
