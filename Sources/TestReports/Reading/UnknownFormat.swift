import ForeignText
import Results

/// A format that is not supported, and what to use instead.
struct UnknownFormat {
    var name: String
    var advice: String

    /// What a file with this start looks like; nil if that is not known.
    static func recognised(_ start: FileStart) -> UnknownFormat? {
        if let root = start.root, let known = elements[root] { return known }
        if let found = keyed.first(where: { entry in entry.keys.allSatisfy(start.keys.contains) }) {
            return found.format
        }
        return texts.first { start.text.byteRange(of: $0.mark) != nil }?.format
    }

    /// By the outermost XML element.
    private static let elements: [String: UnknownFormat] = [
        "robot": .init(name: "Robot Framework's output.xml", advice: "Write JUnit XML with robot --xunit results.xml."),
        "checkstyle": .init(
            name: "Checkstyle's report, which contains findings, not tests", advice: "Read it with .findings(…)."),
        "coverage": .init(name: "a coverage report", advice: "Check the path: the file has no test results."),
        "report": .init(name: "JaCoCo's coverage report", advice: "Check the path: the file has no test results."),
        "Site": .init(name: "CTest's own XML", advice: "Write JUnit XML with ctest --output-junit FILE."),
        "TestLog": .init(name: "Boost.Test's XML", advice: "Write JUnit XML with --log_format=JUNIT --log_sink=FILE."),
        "TestResult": .init(
            name: "Boost.Test's XML", advice: "Write JUnit XML with --log_format=JUNIT --log_sink=FILE."),
        "Catch": .init(name: "Catch2's XML", advice: "Write JUnit XML with --reporter junit --out FILE."),
        "Catch2TestRun": .init(name: "Catch2's XML", advice: "Write JUnit XML with --reporter junit --out FILE."),
        "doctest": .init(name: "doctest's XML", advice: "Write JUnit XML with --reporters=junit --out=FILE."),
        "TestCase": .init(name: "Qt Test's XML", advice: "Write JUnit XML with -o FILE,junitxml."),
        "testng-results": .init(
            name: "TestNG's own XML",
            advice: "Read the JUnit XML that TestNG writes to junitreports/ in the same folder."),
        "testExecutions": .init(
            name: "SonarQube's generic XML", advice: "Write JUnit XML with the test tool's own option."),
        "html": .init(name: "an HTML page", advice: "Write JUnit XML with the test tool's own option."),
        "plist": .init(name: "a property list", advice: "Write JUnit XML with the test tool's own option."),
    ]

    /// By keys that a JSON text has; all must be there.
    private static let keyed: [(keys: [String], format: UnknownFormat)] = [
        (
            ["[].elements", "[].location"],
            .init(name: "behave's JSON", advice: "Write JUnit XML with behave --junit --junit-directory FOLDER.")
        ),
        (
            ["runs", "$schema"],
            .init(name: "SARIF, which contains findings, not tests", advice: "Read it with .findings(.sarif(…)).")
        ),
        (
            ["stats", "results"],
            .init(name: "mochawesome's JSON", advice: "Write Mocha's own with mocha --reporter json.")
        ),
        (["config", "suites"], .init(name: "Playwright's JSON", advice: "Write JUnit XML with --reporter=junit.")),
        (["historyId"], .init(name: "a result of Allure", advice: "Write JUnit XML with the test tool's own option.")),
        (
            ["testsuites", "tests"],
            .init(name: "GoogleTest's JSON", advice: "Write JUnit XML with --gtest_output=xml:FILE.")
        ),
        (
            ["[].filePath", "[].messages"],
            .init(name: "ESLint's JSON", advice: "Write SARIF and read it with .findings(.sarif(…)).")
        ),
        (
            ["exitcode", "collectors"],
            .init(name: "pytest-json-report's JSON", advice: "Write JUnit XML with pytest --junitxml=FILE.")
        ),
        (
            ["type", "event"],
            .init(name: "libtest's JSON", advice: "Write JUnit XML with cargo nextest and its [profile.ci.junit].")
        ),
    ]

    /// By words in a text.
    private static let texts: [(mark: String, format: UnknownFormat)] = [
        ("=== RUN   ", .init(name: "what go test -v prints", advice: "Write go test -json ./... > FILE.")),
        (
            "##teamcity[",
            .init(name: "TeamCity's service messages", advice: "Write JUnit XML with the test tool's own option.")
        ),
        (
            "test session starts",
            .init(name: "what pytest prints", advice: "Write JUnit XML with pytest --junitxml=FILE.")
        ),
        (
            "\nrunning ",
            .init(
                name: "what cargo test prints", advice: "Write JUnit XML with cargo nextest and its [profile.ci.junit]."
            )
        ),
        ("bplist00", .init(name: "a binary property list", advice: "Write JUnit XML with the test tool's own option.")),
        ("SF:", .init(name: "a coverage report (LCOV)", advice: "Check the path: the file has no test results.")),
    ]

    /// The finding about the file.
    static func finding(_ start: FileStart, named name: String) -> Finding {
        let known = recognised(start)
        let kind = start.first == UInt8(ascii: "<") ? "XML" : start.keys.isEmpty ? "text" : "JSON"
        return Finding(
            rule: "result-file", severity: .error,
            message: known.map { "\(name) looks like \($0.name), which pipectl does not read as test results." }
                ?? "\(name) is \(kind), but not in a known format of test results.",
            file: name, line: 1,
            suggestion: known?.advice
                ?? "Write JUnit XML with the test tool's own option; docs/guide/tests.md lists the formats.")
    }
}
