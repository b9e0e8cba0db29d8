import ForeignText
import Results

/// The suites of a JUnit report that are open, and how many of their failures are listed.
struct JUnitSuites {
    private struct Suite {
        var name: String
        var file: String?
        /// pytest counts lines from 0.
        var countsLinesFromZero: Bool
        /// The tests of this suite itself. If there is only one, it gets the suite's output (Bazel).
        var pending: [JUnitTest.Finished] = []
        /// The number of failures and errors in the suite's attributes, its line, and how many were listed before it.
        var declared: (failures: Int, line: Int, before: Int)
        var tests = 0
        var output: BoundedText
    }

    private let limits: TestResultLimits
    private var suites: [Suite] = []
    private var elementsWithFailure = 0
    /// The outermost suite that counts more failures than it lists.
    private(set) var unlisted: (declared: Int, listed: Int, line: Int)?

    init(limits: TestResultLimits) { self.limits = limits }

    var isEmpty: Bool { suites.isEmpty }
    /// The innermost suite's name, with those of the suites around it.
    var name: String { suites.last?.name ?? "" }
    var file: String? { suites.last?.file }
    var countsLinesFromZero: Bool { suites.last?.countsLinesFromZero == true }

    mutating func noteFailure() { elementsWithFailure += 1 }

    /// Adds to the output of the innermost suite.
    mutating func append(output: [UInt8]) { suites[suites.count - 1].output.append(output) }

    mutating func begin(_ element: String, _ attributes: XMLAttributes, line: Int) {
        var own = attributes["name"]?.trimmed ?? ""
        // CTest's name for a build that has none.
        if own == "(empty)" { own = "" }
        // The outermost <testsuites> has a title, which is not part of the tests' names.
        let joined = element == "testsuites" || own.isEmpty ? name : name.isEmpty ? own : name + "/" + own
        let package = attributes["package"]?.trimmed ?? ""
        suites.append(
            Suite(
                name: String((joined.isEmpty ? package : joined).prefix(bytes: limits.nameBytes)),
                file: attributes["file"] ?? attributes["filepath"] ?? file,
                countsLinesFromZero: own == "pytest" || own == "pytest tests" || countsLinesFromZero,
                declared: (
                    (Int(attributes["failures"] ?? "") ?? 0) &+ (Int(attributes["errors"] ?? "") ?? 0), line,
                    elementsWithFailure
                ), output: BoundedText(limit: limits.fieldBytes)))
    }

    /// Adds a test of the innermost suite.
    mutating func add(_ test: JUnitTest.Finished, to collector: inout ResultCollector) {
        guard !suites.isEmpty else {
            collector.add(tries: test.tries, from: test.origin)
            return
        }
        let last = suites.count - 1
        suites[last].tests += 1
        // Only a suite's first test can turn out to be its only one, so no other test waits.
        if suites[last].tests == 1 {
            suites[last].pending = [test]
        } else {
            for waiting in suites[last].pending { collector.add(tries: waiting.tries, from: waiting.origin) }
            suites[last].pending = []
            collector.add(tries: test.tries, from: test.origin)
        }
    }

    /// Ends the innermost suite.
    mutating func end(addingTo collector: inout ResultCollector) {
        guard let suite = suites.popLast() else { return }
        let listed = elementsWithFailure - suite.declared.before
        if suite.declared.failures > listed { unlisted = (suite.declared.failures, listed, suite.declared.line) }
        for var finished in suite.pending {
            let output = suite.output.string
            let last = finished.tries.count - 1
            if suite.tests == 1, !output.isEmpty, finished.tries[last].status.isFailure {
                finished.tries[last].details = (finished.tries[last].details ?? "") + "\n\n" + output
                if finished.tries[last].line == nil,
                    let place = SourceLocator(declaredFile: nil, suite: "").locate(in: [output])
                {
                    finished.tries[last].file = place.file
                    finished.tries[last].line = place.line
                }
            }
            collector.add(tries: finished.tries, from: finished.origin)
        }
    }
}
