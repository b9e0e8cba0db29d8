import ForeignText
import Results

/// Collects the results of one file within the limits.
struct ResultCollector {
    let name: String
    let limits: TestResultLimits
    private(set) var results = TestResults()
    /// For each result in ``results``: where the file has it.
    private var origins: [Origin] = []
    private var textBytes = 0
    private var lastSuite = ""
    private var said: Set<String> = []
    private(set) var isFull = false

    private struct Origin {
        var place: TestOrigin
        /// Whether it is a further try of the previous test.
        var isRetry: Bool
    }

    init(name: String, limits: TestResultLimits) {
        self.name = name
        self.limits = limits
    }

    /// Adds a test with its tries, the first one first.
    ///
    /// Only tries that the format itself marks as such are added together. A later test with the same name is another
    /// test: see ``finished()``.
    mutating func add(tries: [TestResult], from origin: TestOrigin = TestOrigin()) {
        for (index, var result) in tries.enumerated() {
            result.attempt = index + 1
            add(result, Origin(place: origin, isRetry: index > 0))
        }
    }

    /// Adds a test with a single try.
    mutating func add(_ result: TestResult, from origin: TestOrigin = TestOrigin()) {
        add(tries: [result], from: origin)
    }

    private mutating func add(_ result: TestResult, _ origin: Origin) {
        let limits = limits
        guard results.tests.count < limits.tests else {
            isFull = true
            sayTestsAreLeftOut()
            return
        }
        var result = result
        let spent = textBytes >= limits.totalBytes
        if spent { sayTextIsLeftOut() }
        let nameLimit = spent ? min(256, limits.nameBytes) : limits.nameBytes
        result.suite = shortened(result.suite, to: nameLimit)
        // The tests of a suite come together; sharing the string saves an allocation for each.
        if result.suite == lastSuite { result.suite = lastSuite } else { lastSuite = result.suite }
        result.name = shortened(result.name, to: nameLimit)
        result.file = result.file.map { shortened($0, to: nameLimit) }
        result.message = cut(result.message)
        textBytes += result.message?.utf8.count ?? 0
        result.details = cut(result.details)
        textBytes += result.details?.utf8.count ?? 0
        if let duration = result.duration, !(0...1e9 ~= duration) { result.duration = nil }
        if let line = result.line, line < 1 { result.line = nil }
        textBytes += result.suite.utf8.count + result.name.utf8.count + (result.file?.utf8.count ?? 0)
        results.tests.append(result)
        var origin = origin
        origin.place.suite = shortened(origin.place.suite, to: nameLimit)
        origin.place.file = origin.place.file.map { shortened($0, to: nameLimit) }
        if let last = origins.last?.place, last == origin.place { origin.place = last }
        origins.append(origin)
    }

    /// Adds one finding that the file has more tests than are kept.
    mutating func sayTestsAreLeftOut() {
        let limits = limits
        say(
            "holds more than \(limits.tests) tests: those after that are not in this report", key: "tests",
            suggestion: "Write one result file per target, or raise the limit of tests per file.")
    }

    /// Adds one finding that the file has more text than is kept.
    mutating func sayTextIsLeftOut() {
        let limits = limits
        say(
            "holds more than \(limits.totalBytes) bytes of text: later tests keep only their name and status",
            key: "text", suggestion: "Print less in tests that fail, or write one result file per target.")
    }

    /// `text` as a name within the limit. A longer one ends in a digest, so that names stay distinct.
    func nameWithinLimit(_ text: String) -> String { shortened(text, to: limits.nameBytes) }

    /// Gives tests another suite and name, where `change` returns one. They are shortened like all names.
    mutating func rename(_ change: (_ index: Int, TestResult) -> (suite: String, name: String)?) {
        for index in results.tests.indices {
            guard let new = change(index, results.tests[index]) else { continue }
            results.tests[index].suite = shortened(new.suite, to: limits.nameBytes)
            results.tests[index].name = shortened(new.name, to: limits.nameBytes)
        }
    }

    /// The results, with different names for tests that share suite and name.
    ///
    /// They get the suite that the file has them in, otherwise their file, otherwise a number. All other tests keep
    /// their name, so that their history continues.
    mutating func finished() -> TestResults {
        tellApart { $0.suite }
        tellApart { $0.file }
        number()
        return results
    }

    /// The indices of the first tries of tests that share an id.
    private func collisions() -> [String: [Int]] {
        var counts: [String: Int] = [:]
        for (index, origin) in origins.enumerated() where !origin.isRetry {
            counts[results.tests[index].id, default: 0] += 1
        }
        var groups: [String: [Int]] = [:]
        guard counts.count < origins.count else { return groups }
        for (index, origin) in origins.enumerated() where !origin.isRetry {
            let id = results.tests[index].id
            if counts[id, default: 0] > 1 { groups[id, default: []].append(index) }
        }
        return groups
    }

    /// Prefixes the suites of tests that share an id with what `part` returns, if it differs between them.
    private mutating func tellApart(by part: (TestOrigin) -> String?) {
        for indices in collisions().values {
            let parts = indices.map { part(origins[$0].place) ?? "" }
            guard Set(parts).count > 1 else { continue }
            let short = parts.withoutCommonFolder
            for (index, part) in zip(indices, short) where !part.isEmpty {
                let suite = results.tests[index].suite
                guard suite != part, !suite.hasPrefix(part + "/") else { continue }
                rename(from: index, suite: suite.isEmpty ? part : part + "/" + suite, name: results.tests[index].name)
            }
        }
    }

    private mutating func number() {
        let groups = collisions()
        guard !groups.isEmpty else { return }
        var taken = Set(results.tests.map(\.id))
        for indices in groups.values.sorted(by: { ($0.first ?? 0) < ($1.first ?? 0) }) {
            var number = 1
            for index in indices.dropFirst() {
                let test = results.tests[index]
                repeat {
                    number += 1
                    rename(from: index, suite: test.suite, name: test.name + " #\(number)")
                } while !taken.insert(results.tests[index].id).inserted
            }
        }
    }

    /// Renames the test whose first try is at `start`, and its further tries.
    private mutating func rename(from start: Int, suite: String, name: String) {
        var index = start
        repeat {
            results.tests[index].suite = shortened(suite, to: limits.nameBytes)
            results.tests[index].name = shortened(name, to: limits.nameBytes)
            index += 1
        } while index < origins.count && origins[index].isRetry
    }

    /// Adds a finding about the file once for each `key`; at most 100 in all.
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

    /// Adds a finding that is not about the file itself, within the same limit.
    mutating func add(_ finding: Finding) {
        guard results.findings.count < 100 else { return }
        var finding = finding
        // A finding is a sentence; the log has the rest.
        finding.message = finding.message.cut(to: min(limits.fieldBytes, 4_000))
        finding.file = finding.file.map { shortened($0, to: limits.nameBytes) }
        results.findings.append(finding)
    }

    private func cut(_ text: String?) -> String? {
        let room = min(limits.fieldBytes, limits.totalBytes - textBytes)
        // If less than a sentence fits, only the note that something is missing remains.
        guard let text, !text.isEmpty, text.utf8.count <= room || room >= 64 else { return nil }
        return text.cut(to: room)
    }

    private func shortened(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        // FNV-1a only has to keep two long names apart. Who forges a collision hides a test of their own.
        let digest = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return text.prefix(bytes: max(0, limit - 20)) + "…#" + String(digest, radix: 16)
    }
}

/// Where a result file has a test, to distinguish tests with the same name.
struct TestOrigin: Equatable {
    /// The enclosing suite as the file names it, if it is not part of ``TestResult/suite``.
    var suite = ""

    /// The file that declares the test, as written.
    var file: String?
}

extension [String] {
    /// Absolute paths without the folders that all of them share, because those differ between machines.
    fileprivate var withoutCommonFolder: [String] {
        guard var common = first?.split(separator: "/", omittingEmptySubsequences: false).dropLast(),
            allSatisfy({ $0.hasPrefix("/") })
        else { return self }
        for path in self {
            let folders = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let shared = zip(common, folders).prefix { $0 == $1 }.count
            common = common.prefix(shared)
        }
        let count = common.count
        return map {
            $0.split(separator: "/", omittingEmptySubsequences: false).dropFirst(count).joined(separator: "/")
        }
    }
}
