import ForeignText
import Results

/// Reads the output of `go test -json`, one event per line.
///
/// Source: `go doc test2json`. Other lines, such as `go: downloading …`, are ignored.
struct GoTestReading: JSONLineReading {
    static let format = ResultFormat(rawValue: "goTest")

    var collector: ResultCollector
    /// The running tests, by package and name.
    private var open: [String: [String: Running]] = [:]
    private var openCount = 0
    private var packages: [String: Package] = [:]
    /// The output of compiling a package, by the import path in the events.
    private var builds: [String: BoundedText] = [:]
    /// The package whose compiler output is being read.
    private var building: String?
    private var keptBytes = 0
    private var order = 0
    private var sawEvent = false

    private struct Key {
        var package: String
        var test: String
    }

    private struct Running {
        var order: Int
        var output: BoundedText
    }

    private struct Package {
        var output: BoundedText
        var hasFailedTest = false
        /// Tests in which a subtest failed.
        var failedParents: Set<String> = []
        var hasEnded = false
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("Action") && (start.keys.contains("Package") || start.keys.contains("ImportPath"))
            || start.keys.isEmpty && start.lines.contains { $0.hasPrefix("FAIL\t") && $0.hasSuffix(" failed]") }
    }

    mutating func take(_ value: JSONValue) {
        guard let action = value["Action"]?.text else { return }
        if let path = value["ImportPath"]?.text, action.hasPrefix("build-") {
            sawEvent = true
            let text = value["Output"]?.text ?? ""
            if builds[path] == nil, builds.count < 1_000 { builds[path] = newText() }
            builds[path]?.append(text.utf8)
            return
        }
        guard let package = value["Package"]?.text else { return }
        sawEvent = true
        guard know(package) else { return }
        if let test = value["Test"]?.text {
            take(action, Key(package: package, test: test), value)
        } else {
            take(action, package, value)
        }
    }

    /// Whether the package is kept: its name and the number of packages are within the limits.
    private mutating func know(_ package: String) -> Bool {
        if packages[package] != nil { return true }
        guard package.utf8.count <= collector.limits.nameBytes, packages.count < collector.limits.tests else {
            return false
        }
        packages[package] = Package(output: newText())
        return true
    }

    private func newText() -> BoundedText { BoundedText(limit: collector.limits.fieldBytes) }

    /// Before Go 1.24, compile errors are lines of text: `# package`, the compiler's lines, and `FAIL<tab>package
    /// [build failed]`.
    mutating func takeOther(_ line: String) {
        if line.hasPrefix("# ") {
            building = line.dropFirst(2).split(separator: " ").first.map(String.init)
        } else if line.hasPrefix("FAIL\t"), line.hasSuffix(" failed]") {
            let package = line.dropFirst(5).prefix { $0 != " " }
            fail(String(package), build: String(package))
            building = nil
        } else if let building {
            if builds[building] == nil, builds.count < 1_000 { builds[building] = newText() }
            builds[building]?.append((line + "\n").utf8)
        }
    }

    // MARK: Tests

    private mutating func take(_ action: String, _ key: Key, _ value: JSONValue) {
        switch action {
        case "run": begin(key)
        case "output":
            // Output of an unknown test comes from a fuzz worker or a benchmark.
            if open[key.package]?[key.test] == nil { begin(key) }
            let text = value["Output"]?.text ?? ""
            guard keptBytes + text.utf8.count <= collector.limits.totalBytes else { return }
            keptBytes += open[key.package]?[key.test]?.output.append(text.utf8) ?? 0
        case "pass", "bench": end(key, .passed, value["Elapsed"]?.number)
        case "fail": end(key, .failed, value["Elapsed"]?.number)
        case "skip": end(key, .skipped, value["Elapsed"]?.number)
        default: break
        }
    }

    private mutating func begin(_ key: Key) {
        _ = close(key)
        guard openCount < collector.limits.tests else { return }
        order += 1
        openCount += 1
        open[key.package, default: [:]][key.test] = Running(order: order, output: newText())
    }

    /// Removes the test from those that are running, and frees its output.
    private mutating func close(_ key: Key) -> Running? {
        guard let running = open[key.package]?.removeValue(forKey: key.test) else { return nil }
        openCount -= 1
        keptBytes -= running.output.bytes.count
        return running
    }

    private mutating func end(_ key: Key, _ status: TestResult.Status, _ seconds: Double?) {
        let running = close(key)
        var result = TestResult(
            suite: key.package, name: key.test, status: status, duration: Seconds.bounded(seconds))
        let output = running?.output.string ?? ""
        switch status {
        case .failed, .errored:
            packages[key.package]?.hasFailedTest = true
            if let slash = key.test.lastIndex(of: "/") {
                packages[key.package]?.failedParents.insert(String(key.test[..<slash]))
            }
            GoOutput(output).describe(&result)
            if result.message == nil, packages[key.package]?.failedParents.contains(key.test) == true {
                result.message = "a subtest failed"
            }
        case .skipped: result.message = GoOutput(output).said ?? (output.isEmpty ? nil : GoOutput(output).plain)
        case .passed, .expectedFailure: break
        }
        collector.add(result)
    }

    // MARK: Packages

    private mutating func take(_ action: String, _ package: String, _ value: JSONValue) {
        switch action {
        case "output": packages[package]?.output.append((value["Output"]?.text ?? "").utf8)
        case "pass", "skip": packages[package]?.hasEnded = true
        case "fail": fail(package, build: value["FailedBuild"]?.text)
        default: break
        }
    }

    /// A package that failed. If none of its tests failed, it did not compile, or its process crashed.
    private mutating func fail(_ package: String, build: String?) {
        guard know(package) else { return }
        packages[package]?.hasEnded = true
        guard let state = packages[package] else { return }
        for (test, _) in (open[package] ?? [:]).sorted(by: { $0.value.order < $1.value.order }) {
            end(Key(package: package, test: test), .errored, nil)
        }
        open[package] = nil
        guard packages[package]?.hasFailedTest == false else { return }
        let text = (build.flatMap { builds[$0]?.string } ?? "") + state.output.string
        let place = SourceLocator(suite: "").locate(in: [text])
        let words = GoOutput(text).problem ?? "it did not compile, or its process ended before its tests"
        collector.add(
            Finding(
                rule: "test-package", severity: .error, message: "package \(package) failed: \(words)",
                file: place?.file, line: place?.line))
    }

    mutating func finish() {
        let running = open.flatMap { package, tests in
            tests.map { (key: Key(package: package, test: $0.key), order: $0.value.order) }
        }
        for (key, _) in running.sorted(by: { $0.order < $1.order }) {
            let output = close(key)?.output.string ?? ""
            var result = TestResult(suite: key.package, name: key.test, status: .errored)
            GoOutput(output).describe(&result)
            result.message = result.message ?? "The test started and never ended: its process crashed or was stopped."
            collector.add(result)
        }
        let unended = packages.filter { !$0.value.hasEnded }.map(\.key).sorted()
        if let first = unended.first {
            collector.say(
                "does not say how \(unended.count) packages ended, the first of them \(first)", key: "end",
                severity: .error,
                suggestion: "go test was probably stopped: check the end of the step's log.")
        }
    }
}

/// The output of a Go test: the test's own lines, and those that `go test` adds.
struct GoOutput {
    private let lines: [Substring]
    private let text: String

    init(_ text: String) {
        self.text = text
        lines = text.split(separator: "\n")
    }

    /// The text of `t.Error` and the like, or the reason of a panic.
    var said: String? {
        FailureText.saidByGo("=== RUN\n" + text) ?? raceOrFatal
    }

    private var raceOrFatal: String? {
        lines.first { $0.hasPrefix("WARNING: DATA RACE") || $0.hasPrefix("fatal error: ") }.map(String.init)
    }

    /// The lines without those that `go test` adds.
    var plain: String? {
        let own = lines.filter { line in
            let words = line.drop { $0 == " " }
            return !["=== ", "--- ", "FAIL", "ok  ", "PASS", "exit status", "# "].contains { words.hasPrefix($0) }
        }
        return own.isEmpty ? nil : own.prefix(12).joined(separator: "\n")
    }

    /// Why a package failed.
    var problem: String? {
        if let panic = lines.first(where: { $0.hasPrefix("panic: ") }) { return String(panic) }
        return plain
    }

    /// Puts message, details and place into the result of a test that failed.
    func describe(_ result: inout TestResult) {
        result.message = said ?? plain
        result.details = text.isEmpty ? nil : text
        let locator = SourceLocator(declaredFile: result.file, suite: result.suite)
        if let place = locator.locate(in: [text]) { (result.file, result.line) = (place.file, place.line) }
    }
}
