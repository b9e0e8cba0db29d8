import Archive
import ArgumentParser
import Client
import Foundation
import Results
import TerminalText

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
