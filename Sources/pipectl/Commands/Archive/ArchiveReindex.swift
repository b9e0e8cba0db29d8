import Archive
import ArgumentParser
import Client
import Delivery
import Results
import StateFiles
import Store

struct ArchiveReindex: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex",
        abstract: "Rebuilds the index from archive.git and releases/; keeps a damaged index under another name.",
        discussion: "Stop the daemon first.")
    @OptionGroup var state: StateOptions

    func run() async throws {
        let folder = try state.folder()
        try folder.create()
        let lock = try StateLock.acquire(folder, purpose: "archive reindex")
        defer { lock.release() }
        let kept = try folder.setIndexAside()
        let index = try Store.Index(path: folder.index)
        let store = try ArchiveStore(home: folder.path)
        let outcome = try await store.reindex(into: index)
        if let kept { Terminal.say("the old index was kept as \(kept)") }
        Terminal.print(ReindexText.line(outcome))
        for problem in outcome.problems { Terminal.say("pipectl: \(problem.description)") }
        let releases = try await ReleaseRecords(index, ReleaseFolders(folder.releases)).restoreAll()
        if releases > 0 { Terminal.print("added \(Count.text(releases, "release"))") }
    }
}
