import ArgumentParser
import Client
import Results

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
