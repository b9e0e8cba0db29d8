import Results
import ArgumentParser
import Client
import Foundation
import StateFiles
import Store
import Daemon

struct ArchiveRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restores the index from the daemon's daily copy, and adds newer runs from archive.git.",
        discussion: """
            Stop the daemon first. The current index is kept under another name. The next observation of each repository starts \
            no runs. Check unfinished releases by hand before you run them again.
            """)
    @OptionGroup var state: StateOptions

    func run() async throws {
        let folder = try state.folder()
        try folder.create()
        let lock = try StateLock.acquire(folder, purpose: "archive restore")
        defer { lock.release() }
        let restored = try await IndexRestore.run(folder)
        if let kept = restored.kept { Terminal.say("the old index was kept as \(kept)") }
        Terminal.print(
            "restored the copy of \(restored.date.iso8601Seconds); added \(Count.text(restored.added, "run")) from archive.git and ended \(restored.finished); added \(Count.text(restored.releases, "release"))"
        )
        Terminal.say(
            "the next observation of each repository starts no runs; `pipectl watch --since \(restored.date.iso8601Seconds) …` also tests changes pushed since then"
        )
    }
}
