import ForeignText
import Results

/// Reads TRX, Visual Studio's test results: `dotnet test --logger trx`, `vstest.console /Logger:trx`.
///
/// Source: `vstst.xsd` of Visual Studio and the writer, microsoft/vstest, `Microsoft.TestPlatform.Extensions.TrxLogger`.
struct TRXReading: XMLReading {
    static let format = ResultFormat(rawValue: "trx")

    var collector: ResultCollector
    /// The class that declares each test, by the test's id. The file has the classes after all results.
    private var classes: [String: String] = [:]
    /// The test's id of each result in the collector.
    private var ids: [String] = []
    private var open: [Result] = []
    private var definition: String?
    private var hasResults = false

    private struct Result {
        var id: String
        var result: TestResult
        var parts = FailureParts()
        /// Whether it contains results of its rows or steps, and whether one of those failed.
        var hasInner = false
        var hasFailedInner = false
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool { start.root == "TestRun" }

    static func wantsText(of element: String) -> Bool {
        ["Message", "StackTrace", "StdOut", "StdErr", "Text"].contains(element)
    }

    mutating func begin(_ path: [String], _ attributes: XMLAttributes) {
        switch path.last {
        case "Results": hasResults = true
        case .some(let name) where name.hasSuffix("Result") && attributes["testName"] != nil:
            begin(result: attributes)
        case "UnitTest", "OrderedTest", "GenericTest", "ManualTest", "WebTest":
            definition = attributes["id"]
            if let id = definition, let storage = attributes["className"] { note(storage, of: id) }
        case "TestMethod":
            if let id = definition, let name = attributes["className"] { note(name, of: id) }
        default: break
        }
    }

    private mutating func note(_ name: String, of id: String) {
        guard classes.count < collector.limits.tests, id.utf8.count <= 100 else { return }
        // MSTest of .NET Framework appends the assembly: "Name.Space.Class, Assembly, Version=1.0.0.0, …".
        classes[id] = String((name.split(separator: ",").first.map(String.init) ?? name).trimmed.prefix(bytes: 1_024))
    }

    private mutating func begin(result attributes: XMLAttributes) {
        var result = TestResult(
            suite: "", name: attributes["testName"]?.trimmed ?? "", status: Self.status(attributes["outcome"]),
            duration: attributes["duration"].flatMap(Seconds.ofTimeSpan))
        switch attributes["outcome"] {
        case "Timeout": result.message = "The test ran into its time-out."
        case "Aborted": result.message = "The test was aborted."
        case "InProgress": result.message = "The test started and never ended: its process crashed or was stopped."
        default: break
        }
        if !open.isEmpty { open[open.count - 1].hasInner = true }
        open.append(Result(id: attributes["testId"] ?? "", result: result))
    }

    /// `TestOutcome` of vstest. A missing outcome is the writer's default, which is an error.
    private static func status(_ outcome: String?) -> TestResult.Status {
        switch outcome {
        case "Passed", "PassedButRunAborted", "Completed", "Warning": .passed
        case "Failed": .failed
        case "NotExecuted", "Inconclusive", "Pending", "NotRunnable": .skipped
        default: .errored
        }
    }

    mutating func end(_ path: [String], text: String) {
        if !open.isEmpty { return endInside(path, text) }
        switch path.last {
        case "UnitTest", "OrderedTest", "GenericTest", "ManualTest", "WebTest": definition = nil
        // xUnit.net repeats every test there that did not pass.
        case "Text" where path.contains("RunInfo") && !text.isEmpty && !text.hasPrefix("[xUnit.net "):
            collector.add(Finding(rule: "test-issue", severity: .warning, message: "Outside of any test: \(text)"))
        default: break
        }
    }

    private mutating func endInside(_ path: [String], _ text: String) {
        let last = open.count - 1
        let parent = path.dropLast().last
        switch path.last {
        case "Message" where parent == "ErrorInfo": open[last].parts.message = text
        case "StackTrace": open[last].parts.trace = text
        case "StdOut", "StdErr", "Message": open[last].parts.output = joined(open[last].parts.output, text)
        case .some(let name) where name.hasSuffix("Result"): endResult()
        default: break
        }
    }

    private func joined(_ one: String?, _ two: String) -> String? {
        guard !two.isEmpty else { return one }
        return [one, two].compactMap(\.self).joined(separator: "\n").cut(to: collector.limits.fieldBytes)
    }

    private mutating func endResult() {
        guard let ended = open.popLast() else { return }
        if ended.result.status.isFailure || ended.hasFailedInner, !open.isEmpty {
            open[open.count - 1].hasFailedInner = true
        }
        // The rows of a test with data are the results. The enclosing result counts only if it failed and no row did.
        if ended.hasInner, !ended.result.status.isFailure || ended.hasFailedInner { return }
        var result = ended.result
        let fallback = result.message
        switch result.status {
        case .failed, .errored: ended.parts.describe(&result)
        case .skipped: result.message = ended.parts.message ?? ended.parts.output
        case .passed, .expectedFailure: break
        }
        result.message = result.message ?? fallback
        collector.add(result)
        if ids.count < collector.results.tests.count { ids.append(String(ended.id.prefix(bytes: 100))) }
    }

    mutating func finish() {
        while !open.isEmpty { endResult() }
        let (classes, ids) = (classes, ids)
        collector.rename { index, test in
            guard let suite = classes[ids[index]] else {
                // Without a definition, the name may still contain the class.
                return Self.split(test.name)
            }
            let name = test.name.hasPrefix(suite + ".") ? String(test.name.dropFirst(suite.count + 1)) : test.name
            return (suite, name)
        }
        if !hasResults {
            collector.say(
                "has no <Results>: no test ran", key: "none", severity: .warning,
                suggestion: "Check the step's log: the test host may have found no tests, or not have started.")
        }
    }

    /// The class and the name of `Name.Space.Class.Method(1, "a.b")`.
    static func split(_ name: String) -> (suite: String, name: String) {
        let end = argumentsStart(of: name)
        guard let dot = name[..<end].lastIndex(of: "."), dot > name.startIndex,
            !name[..<end].contains(" ")
        else { return ("", name) }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }

    /// The start of the arguments in the last part of a name: the parenthesis that the last one closes.
    private static func argumentsStart(of name: String) -> String.Index {
        guard name.hasSuffix(")") else {
            return name.firstIndex(of: "(").flatMap { open in
                // More text follows: these are the arguments of a class, as in "Suite(1).Test".
                name.lastIndex(of: ")").map { $0 > open ? name.endIndex : open }
            } ?? name.endIndex
        }
        var depth = 0
        for index in name.indices.reversed() {
            if name[index] == ")" { depth += 1 }
            if name[index] == "(" {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return name.firstIndex(of: "(") ?? name.endIndex
    }
}
