public import ArgumentParser
import Client
import Control
import Foundation
public import Reports
import Results
import Store

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

    /// The earlier results of the tests that the page shows in full.
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

    /// The report from the archive; for a run that waits for approval, the report so far.
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
