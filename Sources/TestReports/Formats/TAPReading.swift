import ForeignText
import Results

/// Reads TAP, the Test Anything Protocol, versions 12 to 14: `prove`, `node --test-reporter=tap`, bats, pytest-tap.
///
/// Source: https://testanything.org/tap-version-14-specification.html. If a test has subtests, the subtests are the
/// results. The test itself counts only if it failed and none of its subtests did.
struct TAPReading: ResultReading {
    static let format = ResultFormat(rawValue: "tap")

    private var collector: ResultCollector
    private var levels: [Level] = [Level()]
    private var yaml: (indent: Int, lines: [String])?
    private var heldBytes = 0
    private var bailedOut = false
    /// The number of points of all levels.
    private var heldPoints = 0
    /// Whether the last test point was left out. Then the lines about it are left out, too.
    private var leftOutLast = false

    /// The test points of one indentation level: of the file, of a subtest, of its subtest.
    private struct Level {
        var points: [Point] = []
        var planned: Int?
        var count = 0
        var title: String?
    }

    private struct Point {
        /// The enclosing tests, outermost first. They are known only after their own lines.
        var parents: [String] = []
        var name: String
        var isOK: Bool
        var directive: Directive?
        var seconds: Double?
        var children = 0
        var hasFailedChild = false
        var yaml: [String] = []
        var comments: [String] = []

        var failed: Bool { !isOK && directive == nil }
    }

    private enum Directive { case skip(String), todo(String) }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        guard start.first != UInt8(ascii: "<"), start.keys.isEmpty else { return false }
        if start.lines.contains(where: { $0.hasPrefix("TAP version 1") || TAPLine.plan($0) != nil }) { return true }
        let first = start.lines.first { !$0.hasPrefix("#") }
        return first.flatMap(TAPLine.point)?.number != nil
    }

    mutating func read(_ source: ByteSource) -> TestResults {
        var source = source
        while !collector.isFull, let (bytes, _) = source.nextLine(limit: collector.limits.fieldBytes) {
            take(String(uncoloured: bytes))
        }
        finish()
        return collector.finished()
    }

    private mutating func take(_ line: String) {
        let indent = line.utf8.prefix { $0 == 0x20 }.count
        let text = line.dropFirst(indent)
        if let open = yaml {
            if text.hasPrefix("..."), indent <= open.indent { return closeYAML() }
            if open.lines.count < 500, hold(line) {
                yaml?.lines.append(String(line.dropFirst(min(indent, open.indent))))
            }
            return
        }
        let depth = min(indent / 4, collector.limits.depth)
        if text == "---" || text.hasPrefix("--- "), leftOutLast || lastPoint(at: depth) != nil {
            yaml = (indent, [])
        } else if let point = TAPLine.point(text) {
            add(point, at: depth)
        } else if let count = TAPLine.plan(text) {
            open(depth)
            levels[depth].planned = count
            if depth == 0, count == 0 { sayNothingRan(text) }
        } else if text.hasPrefix("Bail out!") {
            bailOut(String(text.dropFirst(9)).trimmed)
        } else if text.hasPrefix("# Subtest: ") {
            // A subtest is announced before its tests, with their indentation or that of its own line.
            open(depth)
            levels[depth].title = collector.nameWithinLimit(String(text.dropFirst(11)))
        } else if text.hasPrefix("#") {
            comment(String(text.dropFirst().drop { $0 == " " }), raw: String(text.dropFirst()), at: depth)
        }
    }

    /// Whether a line of other output still fits into the limit.
    private mutating func hold(_ text: String) -> Bool {
        guard heldBytes + text.utf8.count <= collector.limits.totalBytes else { return false }
        heldBytes += text.utf8.count
        return true
    }

    private mutating func open(_ depth: Int) {
        while levels.count <= depth { levels.append(Level()) }
    }

    private func lastPoint(at depth: Int) -> Point? { depth < levels.count ? levels[depth].points.last : nil }

    private mutating func change(lastAt depth: Int, _ body: (inout Point) -> Void) {
        guard depth < levels.count, let last = levels[depth].points.indices.last else { return }
        body(&levels[depth].points[last])
    }

    // MARK: Test points

    private mutating func add(_ line: TAPLine, at depth: Int) {
        open(depth)
        if depth == 0 { flush() }
        levels[depth].count += 1
        // Points of deep levels wait for the lines of their parents. A file of nothing else must not make them wait
        // forever.
        leftOutLast = depth > 0 && heldPoints >= collector.limits.tests
        if leftOutLast { return collector.sayTestsAreLeftOut() }
        heldPoints += 1
        let number = line.number ?? levels[depth].count
        let name = line.description.isEmpty ? "test \(number)" : line.description
        var point = Point(name: collector.nameWithinLimit(name), isOK: line.isOK, seconds: line.seconds)
        if let reason = line.skip { point.directive = .skip(reason) }
        if let reason = line.todo { point.directive = .todo(reason) }
        var children = depth + 1 < levels.count ? fold(from: depth + 1) : []
        point.children = children.count
        point.hasFailedChild = children.contains { $0.failed || $0.hasFailedChild }
        for index in children.indices { children[index].parents.insert(point.name, at: 0) }
        levels[depth].title = nil
        levels[depth].points += children + [point]
    }

    /// Returns the points of the levels from `depth` on whose parent's line did not come.
    private mutating func fold(from depth: Int) -> [Point] {
        var points: [Point] = []
        for level in levels[depth...].reversed() {
            let title = level.title
            points =
                level.points
                + points.map { point in
                    var point = point
                    if let title { point.parents.insert(title, at: 0) }
                    return point
                }
        }
        levels.removeSubrange(depth...)
        return points
    }

    private mutating func closeYAML() {
        guard let open = yaml else { return }
        yaml = nil
        if leftOutLast { return }
        change(lastAt: min(open.indent / 4, collector.limits.depth)) { $0.yaml = open.lines }
    }

    private mutating func comment(_ text: String, raw: String, at depth: Int) {
        if text.hasPrefix("Subtest") { return }
        guard !leftOutLast, lastPoint(at: depth) != nil, hold(raw) else { return }
        change(lastAt: depth) { if $0.comments.count < 200 { $0.comments.append(raw) } }
    }

    // MARK: Results

    /// Passes on the points of level 0, which are complete.
    private mutating func flush() {
        for point in levels[0].points where point.children == 0 || point.failed && !point.hasFailedChild {
            collector.add(result(of: point))
        }
        heldPoints -= levels[0].points.count
        levels[0].points = []
        heldBytes = 0
    }

    /// The parents' names as one suite. They are joined only up to the limit for names.
    private func suite(of point: Point) -> String {
        var suite = ""
        for (index, parent) in point.parents.enumerated() where suite.utf8.count <= collector.limits.nameBytes {
            suite += index == 0 ? parent : "/" + parent
        }
        return suite
    }

    private func result(of point: Point) -> TestResult {
        var result = TestResult(
            suite: suite(of: point), name: point.name, status: point.isOK ? .passed : .failed,
            duration: point.seconds)
        let facts = TAPDiagnostic(point.yaml)
        result.duration = result.duration ?? facts.seconds
        switch point.directive {
        case .skip(let reason):
            result.status = .skipped
            result.message = reason.isEmpty ? nil : reason
        case .todo(let reason):
            if !point.isOK { result.status = .expectedFailure }
            result.message = reason.isEmpty ? nil : reason
        case nil:
            guard !point.isOK else { break }
            describe(&result, facts, point)
        }
        return result
    }

    private func describe(_ result: inout TestResult, _ facts: TAPDiagnostic, _ point: Point) {
        var parts = FailureParts()
        let comments = TAPDiagnostic.text(ofComments: point.comments)
        parts.message = facts.message ?? TAPDiagnostic.message(inComments: point.comments)
        parts.trace = facts.stack ?? (comments.isEmpty ? nil : comments)
        parts.output = point.yaml.isEmpty ? nil : point.yaml.joined(separator: "\n")
        parts.describe(&result)
        let place = facts.place ?? TAPDiagnostic.place(inComments: point.comments)
        if let place { (result.file, result.line) = (place.file, place.line) }
    }

    private mutating func bailOut(_ reason: String) {
        guard !bailedOut else { return }
        bailedOut = true
        collector.add(
            Finding(
                rule: "test-issue", severity: .error,
                message: "The tests gave up (\"Bail out!\")\(reason.isEmpty ? "" : ": \(reason)")"))
    }

    private mutating func sayNothingRan(_ plan: Substring) {
        let reason = plan.firstIndex(of: "#").map { String(plan[$0...].dropFirst()).trimmed } ?? ""
        collector.add(
            Finding(
                rule: "test-issue", severity: .note,
                message: "\(collector.name) plans no tests\(reason.isEmpty ? "" : ": \(reason)")"))
    }

    private mutating func finish() {
        closeYAML()
        let (planned, ran) = (levels[0].planned, levels[0].count)
        if levels.count > 1 {
            // Subtests whose own test point never came.
            let title = levels[0].title
            levels[0].points += fold(from: 1).map { point in
                var point = point
                if let title { point.parents.insert(title, at: 0) }
                return point
            }
        }
        flush()
        if let planned, planned < ran {
            collector.say(
                "plans \(planned) tests but contains \(ran)", key: "plan",
                suggestion: "Correct the plan, so that a missing test is noticed.")
        } else if let planned, planned > ran, !bailedOut {
            collector.say(
                "plans \(planned) tests but contains \(ran)", key: "plan", severity: .error,
                suggestion: "The test process ended early: check the end of the step's log.")
        } else if planned == nil, !bailedOut {
            collector.say(
                "has no plan (1..N), so pipectl can't tell whether all tests ran", key: "plan",
                suggestion: "The test process was probably stopped: check the end of the step's log.")
        }
    }
}
