import ArgumentParser
import Client
import Results
import TerminalText
import TestReports

struct ResultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Shows the test results that pipectl reads from files.",
        discussion: """
            Detects the format by its content: JUnit XML, Swift Testing's event stream, the output of `swift test`, TRX, \
            NUnit 2 and 3, xUnit.net, `go test -json`, Dart's and Flutter's JSON, Mocha's, Jest's, RSpec's and \
            Cucumber's JSON, TAP, CTRF, Xcode's test results. Several files are read like those of one step: tests in two files of one format \
            are different tests, and if they share a name, the file's name is added.

            Exit codes: 0 all files were read, even if tests failed; 2 a file can't be opened or has no readable test \
            results.
            """)

    @Argument(help: "Test result files.") var files: [String]
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var contents: [ResultFileContent] = []
        var unread: [String] = []
        for file in files {
            do {
                let results = try TestResultReader().read(file: file, named: file, format: nil)
                if results.tests.isEmpty, results.findings.contains(where: { $0.severity == .error }) {
                    unread.append(file)
                }
                contents.append(ResultFileContent(path: file, results: results))
            } catch {
                throw CommandEnd(code: 2, message: "\(error)")
            }
        }
        let all = TestResults.joining(contents)
        if json {
            struct Output: Encodable { var tests: [TestResult]; var findings: [Finding] }
            try JSONOutput.print(Output(tests: all.tests, findings: all.findings))
        } else {
            show(all)
        }
        if let first = unread.first {
            let more = unread.count > 1 ? " and \(unread.count - 1) more" : ""
            throw CommandEnd(
                code: 2, message: "no test results could be read from \(TerminalText.name(first, limit: 400))\(more)")
        }
    }

    private func show(_ all: TestResults) {
        for test in all.tests {
            let place = test.file.map { "  \($0)" + (test.line.map { ":\($0)" } ?? "") } ?? ""
            let time = test.duration.map { "  \(Figures.duration($0))" } ?? ""
            let attempt = test.attempt > 1 ? "  (attempt \(test.attempt))" : ""
            Terminal.print(
                TerminalText.name("\(test.status.rawValue)  \(test.id)\(attempt)\(time)\(place)", limit: 1_000))
            if let message = test.message, test.status.isFailure {
                for line in message.split(separator: "\n", omittingEmptySubsequences: false).prefix(20) {
                    Terminal.print("    " + TerminalText.name(String(line), limit: 1_000))
                }
            }
        }
        for finding in all.findings {
            let advice = finding.suggestion.map { " \($0)" } ?? ""
            Terminal.say(TerminalText.name("\(finding.severity.rawValue): \(finding.message)\(advice)", limit: 2_000))
        }
        // Each test once, by its last attempt, as a report counts them.
        let counts = all.counts
        let flaky = counts.flaky > 0 ? " (\(counts.flaky) after a failed attempt)" : ""
        Terminal.print(
            "\(counts.passed) passed\(flaky), \(counts.failed + counts.errored) failed, \(counts.skipped) skipped, "
                + "\(counts.expectedFailure) expected failures")
    }
}
