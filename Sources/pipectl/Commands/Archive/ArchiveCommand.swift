import ArgumentParser

struct ArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive", abstract: "Checks, rebuilds and copies the archive of all runs.",
        subcommands: [ArchiveVerify.self, ArchiveReindex.self, ArchiveRestore.self, ArchivePush.self])
}
