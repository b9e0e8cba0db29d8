import ArgumentParser

struct ArtifactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "artifacts", abstract: "Lists and downloads the artifacts of runs.",
        subcommands: [ArtifactsList.self, ArtifactsDownload.self])
}
