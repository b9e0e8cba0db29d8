import StateFiles
import Control
public import Reports
public import Results
import Store
import TerminalText
import TestReports
public import ArgumentParser
import BuildBox
import Foundation

struct Runs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "runs", abstract: "Lists runs, newest first.")

    @OptionGroup var state: StateOptions
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?
    @Option(help: "Only runs of this change.") var change: String?
    @Option(help: "Only runs of this branch, or of changes into it.") var branch: String?
    @Option(help: "Only runs of commits whose id starts with this.") var commit: String?
    @Option(help: "Only runs with this verdict; may be repeated.") var verdict: [Verdict] = []
    @Option(name: .customLong("in"), help: "Only runs in this state: queued, running or ended; may be repeated.")
    var states: [RunState] = []
    @Option(help: "Only runs since then: 2d, 6h, or 2026-01-31.") var since: String?
    @Flag(help: "Hide runs that the daemon starts by itself: warm-ups, clean builds, retries of failing tests.")
    var noBackground = false
    @Option(name: [.customShort("n"), .long], help: "Show at most N runs.") var limit = 20
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var query = RunsQuery(
            repository: repository.map(RunSubject.repository), workflow: workflow, change: change, branch: branch,
            commit: commit, states: states, verdicts: verdict, since: try since.map(PastTime.required),
            limit: limit)
        query.hidesBackground = noBackground ? true : nil
        let runs = try await state.ask(.runs(query), "runs") { if case .runs(let runs) = $0 { runs } else { nil } }
        if json { return try JSONOutput.print(runs) }
        if runs.isEmpty {
            Terminal.say("no runs; start one with `pipectl run WORKFLOW`, or let `pipectl watch` test changes")
        }
        Terminal.put(
            RunTable.text(
                runs, colour: Terminal.hasColour, width: Terminal.outputIsTerminal ? Terminal.width : nil))
    }
}

extension Verdict: ExpressibleByArgument {}
extension RunState: ExpressibleByArgument {}

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one run: its progress, or its report.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help) var run: RunArgument
    @Flag(help: "Print JSON.") var json = false

    mutating func run() async throws {
        try await state.resolve(&run)
        let id = run.id
        let detail = try await state.ask(.run(id), "show") { if case .run(let detail) = $0 { detail } else { nil } }
        if detail.summary.isArchived {
            let document = try await ReportLoader(state.folder()).document(id)
            return Terminal.put(
                document.render(
                    json ? .json : .text, options: RenderOptions(colour: Terminal.hasColour, width: Terminal.width)))
        }
        if let held = detail.held {
            let options = RenderOptions(colour: Terminal.hasColour, width: Terminal.width)
            return Terminal.put(ReportDocument(report: held).render(json ? .json : .text, options: options))
        }
        if json { return try JSONOutput.print(detail) }
        Terminal.put(RunTable.text([detail.summary], colour: Terminal.hasColour))
        if let reason = detail.summary.reason { Terminal.print(TerminalText.name(reason)) }
        if let behind = detail.behind { Terminal.print("queued behind \(behind)") }
        if let live = detail.live {
            for step in live.steps {
                let mark = StatusMark.text(step.record.status, Terminal.hasColour)
                let facts = TerminalText.name(step.waitsFor ?? step.lastLine ?? "", limit: 400)
                Terminal.print("  \(mark) \(step.record.name)  \(facts)")
            }
        }
    }
}

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Prints or writes the report of a finished run.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help) var run: RunArgument
    @Option(
        help: ArgumentHelp(
            "text, markdown, html, json or junit; with --bundle, markdown or json. Default: by the extension of --output, else text."
        ))
    var format: ReportFormat?
    @Option(name: [.short, .long], help: "Write to this file instead of standard output.") var output: String?
    @Flag(help: "Print what must change before the run passes, in one bounded document; works for a running run, too.")
    var bundle = false
    @Option(help: "With --bundle: print at most N bytes; N is at least 3072.") var bytes = BundleDraft.defaultBytes

    func validate() throws {
        if bundle, let format = wantedFormat, ![.markdown, .json].contains(format) {
            throw ValidationError("--bundle takes --format markdown or json, not \(format.rawValue)")
        }
        if bytes < BundleDraft.minimumBytes {
            throw ValidationError(
                "--bytes takes \(BundleDraft.minimumBytes) or more; a bundle does not fit in \(bytes)")
        }
    }

    private var wantedFormat: ReportFormat? { format ?? output.flatMap { ReportFormat(path: $0) } }

    mutating func run() async throws {
        try await state.resolve(&run)
        if bundle { return try put(try await bundleText()) }
        var document = try await document()
        if wantedFormat == .html { document.trends = await trends(document) }
        let colour = output == nil && Terminal.hasColour
        try put(document.render(wantedFormat ?? .text, options: RenderOptions(colour: colour, width: Terminal.width)))
    }

    private func bundleText() async throws -> String {
        let wanted = BundleRequest(run: run.id, bytes: bytes, format: wantedFormat == .json ? .json : .markdown)
        return try await state.ask(.bundle(wanted), "report") { if case .bundle(let text) = $0 { text } else { nil } }
    }

    private func put(_ text: String) throws {
        guard let output else { return Terminal.put(text) }
        try text.write(toFile: output, atomically: true, encoding: .utf8)
        Terminal.say("wrote \(output)")
    }

    /// Of the tests that the page shows in full: how they came out before.
    private func trends(_ document: ReportDocument) async -> [String: TestTrend] {
        var seen: Set<String> = []
        let troubled = document.tests.filter { $0.status.isFailure && seen.insert($0.id).inserted }.prefix(100)
        guard !troubled.isEmpty else { return [:] }
        let names = troubled.map { TestTrend(suite: $0.suite, name: $0.name, points: []) }
        let filter = TestFilter(repository: document.report.repository, limit: Sparkline.limit)
        let trends = try? await state.ask(.trends(names, filter), "report") {
            if case .trends(let trends) = $0 { trends } else { nil }
        }
        return Dictionary((trends ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// From the archive, or as far as there is one for a run that waits for a person.
    private func document() async throws -> ReportDocument {
        do {
            return try await ReportLoader(state.folder()).document(run.id)
        } catch let error as ArchiveError where error.code == .unknownRun {
            let held = try? await state.ask(.run(run.id), "report") {
                if case .run(let detail) = $0 { detail.held } else { nil }
            }
            guard let held else { throw error }
            return ReportDocument(report: held)
        }
    }
}

extension ReportFormat: ExpressibleByArgument {}

struct Results: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Shows the test results that pipectl reads from files.",
        discussion: """
            Detects the format by its content: JUnit XML, Swift Testing's event stream, the output of `swift test`, TRX, \
            NUnit 2 and 3, xUnit.net, `go test -json`, Dart's and Flutter's JSON, Mocha's, Jest's and RSpec's JSON, TAP, \
            CTRF. Several files are read as those of one step are: tests of two files of one format are two tests, and \
            where they share a name, the file tells them apart.

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
            let time = test.duration.map { "  \(Duration.seconds($0).inWords)" } ?? ""
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
        // Each test once, by its last try, as a report counts them.
        let counts = all.counts
        let flaky = counts.flaky > 0 ? " (\(counts.flaky) after a failed attempt)" : ""
        Terminal.print(
            "\(counts.passed) passed\(flaky), \(counts.failed + counts.errored) failed, \(counts.skipped) skipped, "
                + "\(counts.expectedFailure) expected failures")
    }
}
