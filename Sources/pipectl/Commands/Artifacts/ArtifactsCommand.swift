import StateFiles
import Control
import Results
import TerminalText
import Archive
import ArgumentParser
import BuildBox
import Foundation

struct ArtifactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "artifacts", abstract: "Lists and downloads the artifacts of runs.",
        subcommands: [ArtifactsList.self, ArtifactsDownload.self])
}

/// Which run's artifacts are meant.
struct ArtifactSource: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "\(RunArgument.help.abstract) With --branch, this argument is the pattern instead.", valueName: "run"))
    var first: String?
    @Argument(help: ArgumentHelp("Only paths that match this glob, or files of this name.", valueName: "pattern"))
    var second: String?
    @Option(help: "Use the newest run of this branch that passed and has artifacts.") var branch: String?
    @Flag(help: "With --branch: use the newest run (the default).") var latest = false
    @Option(help: "Only runs of this workflow.") var workflow: String?
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only artifacts of this step.") var step: String?

    func validate() throws {
        if branch == nil {
            if latest { throw ValidationError("--latest goes with --branch NAME") }
            guard let first else { throw ValidationError("name a run, or --branch NAME --latest") }
            if RunArgument(argument: first) == nil { throw ValidationError("\"\(first)\" does not name a run") }
        } else if second != nil {
            throw ValidationError("name a run or a branch, not both")
        }
    }

    private var pattern: String? { branch == nil ? second : first }

    /// The run, and those of its artifacts that are wanted.
    func find(_ state: StateOptions) async throws -> (run: Int64, artifacts: [ArtifactRecord]) {
        let loader = try ReportLoader(state.folder())
        guard let branch else {
            guard let first, var run = RunArgument(argument: first) else {
                throw ValidationError("name a run, or --branch NAME --latest")
            }
            try await state.resolve(&run)
            let artifacts = try await loader.store.report(run.id).artifacts
            return (
                run.id, try ArtifactExport.select(artifacts, matching: pattern, step: step, of: run.id)
            )
        }
        var query = RunsQuery(
            repository: repository.map(RunSubject.repository), workflow: workflow, branch: branch, states: [.ended],
            verdicts: [.passed, .flaky], limit: 200)
        query.branch = branch
        let wanted = query
        let runs = try await state.ask(.runs(wanted), "artifacts") {
            if case .runs(let runs) = $0 { runs } else { nil }
        }
        for run in runs where run.change == nil && run.isArchived {
            let artifacts = try await loader.store.report(run.id).artifacts
            guard !artifacts.isEmpty else { continue }
            return (run.id, try ArtifactExport.select(artifacts, matching: pattern, step: step, of: run.id))
        }
        throw CommandEnd(
            code: 2,
            message:
                "no run of branch \"\(branch)\" passed and has artifacts; `pipectl runs --branch \(branch)` lists its runs"
        )
    }
}

struct ArtifactsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the artifacts of a run.")

    @OptionGroup var state: StateOptions
    @OptionGroup var source: ArtifactSource
    @Flag(help: "Print JSON.") var json = false

    private struct Output: Encodable { var run: Int64; var artifacts: [ArtifactRecord] }

    func run() async throws {
        let (run, artifacts) = try await source.find(state)
        if json { return try JSONOutput.print(Output(run: run, artifacts: artifacts)) }
        let rows = artifacts.map { [$0.path, "\($0.bytes)", $0.step, $0.sha256] }
        Terminal.put(TextTable.text(["path", "bytes", "step", "sha256"], rows))
    }
}

struct ArtifactsDownload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Copies a run's artifacts to a folder, and checks their digests.",
        discussion: """
            Each file keeps its path below the folder. If a file exists with other contents, nothing is written without \
            --force.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var source: ArtifactSource
    @Option(name: [.short, .long], help: ArgumentHelp("The folder to write to.", valueName: "folder")) var output = "."
    @Flag(help: "Replace existing files.") var force = false
    @Flag(help: "Print JSON.") var json = false

    private struct Output: Encodable { var run: Int64; var files: [ArtifactExport.Copied] }

    func run() async throws {
        let (run, artifacts) = try await source.find(state)
        let store = try ReportLoader(state.folder()).store
        let folder = URL(fileURLWithPath: output).standardizedFileURL.path
        let export = ArtifactExport(folder: folder, overwrites: force)
        try export.check(artifacts)
        var files: [ArtifactExport.Copied] = []
        for artifact in artifacts {
            guard let bytes = store.wantedArtifact(artifact.sha256, bytes: artifact.bytes) else {
                throw CommandEnd(
                    code: 3,
                    message:
                        "the file of artifact \(TerminalText.name(artifact.path)) of run \(run) is missing; check with `pipectl archive verify`"
                )
            }
            let copied = try export.copy(artifact, from: bytes)
            if !json { Terminal.print(TerminalText.name(copied.file, limit: 4_000)) }
            files.append(copied)
        }
        if json { return try JSONOutput.print(Output(run: run, files: files)) }
        Terminal.say("\(Count.text(files.count, "artifact")) of run \(run)")
    }
}
