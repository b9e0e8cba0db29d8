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
                    code: 1, message: "\(problems.count) problems; `pipectl archive reindex` mends the index")
            }
            Terminal.say("the archive is sound")
        }
    }

    struct Reindex: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reindex", abstract: "Rebuilds the index from archive.git; a damaged one is kept beside it.",
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
            _ = try await store.recover()
            let outcome = try await store.reindex(into: index)
            if let kept { Terminal.say("the old index is kept as \(kept)") }
            Terminal.print("\(outcome)")
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Puts the daemon's copy of the index in its place, and adds what archive.git has since.",
            discussion: """
                Stop the daemon first. The index that is there is kept beside it. The next look at each repository starts \
                nothing; runs that act on the world and had not ended need a person.
                """)
        @OptionGroup var state: StateOptions

        func run() async throws {
            let folder = try state.folder()
            try folder.create()
            let lock = try StateLock.acquire(folder, purpose: "archive restore")
            defer { lock.release() }
            let restored = try await IndexRestore.run(folder)
            if let kept = restored.kept { Terminal.say("the old index is kept as \(kept)") }
            Terminal.print(
                "the copy of \(restored.date.formatted(.iso8601)) is in place, with \(restored.added) runs from archive.git added and \(restored.finished) ended"
            )
            Terminal.say(
                "the next look starts nothing; `pipectl watch --since \(restored.date.formatted(.iso8601)) …` also tests changes from since then"
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
                    if case .done(let text) = $0 { text } else { nil }
                })
        }
    }
}
