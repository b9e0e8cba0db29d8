import StateFiles
import Control
import ArgumentParser
import Store
import Archive
import BuildBox
import Foundation

struct ArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive", abstract: "Checks, rebuilds and copies the archive of all runs.",
        subcommands: [Verify.self, Reindex.self, Restore.self, Push.self])

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Checks every digest, and the index against the archive.")
        @OptionGroup var state: StateOptions

        func run() async throws {
            let problems = try await state.ask(.verifyArchive, "archive verify") {
                if case .problems(let problems) = $0 { problems } else { nil }
            }
            for problem in problems { Terminal.print(problem) }
            guard problems.isEmpty else {
                throw CommandEnd(
                    code: 1,
                    message: "\(Count.text(problems.count, "problem")); `pipectl archive reindex` rebuilds the index")
            }
            Terminal.say("the archive is intact")
        }
    }

    struct Reindex: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reindex",
            abstract: "Rebuilds the index from archive.git; keeps a damaged index under another name.",
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
            Terminal.print("\(outcome)")
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Restores the index from the daemon's daily copy, and adds newer runs from archive.git.",
            discussion: """
                Stop the daemon first. The current index is kept under another name. The next look at each repository starts \
                nothing. Check unfinished releases by hand before you run them again.
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
                "restored the copy of \(restored.date.formatted(.iso8601)); added \(Count.text(restored.added, "run")) from archive.git and ended \(restored.finished)"
            )
            Terminal.say(
                "the next look at each repository starts nothing; `pipectl watch --since \(restored.date.formatted(.iso8601)) …` also tests changes pushed since then"
            )
        }
    }

    struct Push: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "push", abstract: "Copies all runs to another Git repository.")
        @OptionGroup var state: StateOptions
        @Argument(help: "A URL or path of a bare repository.") var remote: String

        func run() async throws {
            let remote =
                WatchedRepository.isRemote(remote) ? remote : URL(fileURLWithPath: remote).standardizedFileURL.path
            Terminal.say(
                try await state.ask(.pushArchive(remote: remote), "archive push") {
                    if case .completed(let action) = $0 { action.inWords } else { nil }
                })
        }
    }
}
