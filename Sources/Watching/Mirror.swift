import StateFiles
import Control
import Results
import Foundation
import Git
import Sandbox

/// Our copy of a remote, fetched by a child process: libgit2 has no time-out of its own.
public struct Mirror: Sendable {
    package let repository: WatchedRepository
    package let deadline: Duration

    package init(_ repository: WatchedRepository, deadline: Duration) {
        self.repository = repository
        self.deadline = deadline
    }

    /// The hidden command of pipectl that fetches; its arguments are the mirror and the URL.
    public static let command = "fetch-mirror"

    /// What the `HEAD` of a mirror names when the remote's names no branch: a ref that never exists.
    static let noHead = "refs/pipectl/no-head"

    /// Fetches branches, tags, changes and where `HEAD` points; what is gone at the remote goes here too. Blocks; has no
    /// deadline.
    public static func fetch(into mirror: String, from url: String) throws {
        let repository = try Repository(opening: mirror)
        let head = try repository.fetch(url: url, refspecs: ChangeRefs.refspecs, prune: true)
        try repository.setHead(to: head ?? noHead)
    }

    /// Brings the mirror up to date, or throws within the deadline.
    package func fetch() async throws {
        let result = try await ExternalCommand(
            Installation.executable, [Mirror.command, repository.gitDirectory, repository.location], deadline: deadline,
            outputLimit: 16_384
        ).run()
        guard !result.succeeded else { return }
        switch result.ending {
        case .exited:
            throw RequestError(.fetch, result.text.trimmingCharacters(in: .whitespacesAndNewlines))
        default:
            throw RequestError(
                .fetch,
                "fetching \(repository.location) took longer than \(deadline.inWords) and was ended. Is the host reachable?"
            )
        }
    }
}
