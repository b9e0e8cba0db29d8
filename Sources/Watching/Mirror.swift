import StateFiles
import Control
import Results
import Foundation
import Git
import Sandbox

/// pipectl's mirror of a remote. A child process fetches it, since libgit2 has no time-outs.
public struct Mirror: Sendable {
    package let repository: WatchedRepository
    package let deadline: Duration

    package init(_ repository: WatchedRepository, deadline: Duration) {
        self.repository = repository
        self.deadline = deadline
    }

    /// pipectl's hidden command that fetches; its arguments are the mirror and the URL.
    public static let command = "fetch-mirror"

    /// The `HEAD` of a mirror if the remote's names no branch: a ref that never exists.
    static let noHead = "refs/pipectl/no-head"

    /// Fetches branches, tags, changes and the target of `HEAD`, and deletes refs that the remote deleted. Blocks,
    /// without a deadline.
    public static func fetch(into mirror: String, from url: String) throws {
        let repository = try Repository(opening: mirror)
        let head = try repository.fetch(url: url, refspecs: ChangeRefs.refspecs, prune: true)
        try repository.setHead(to: head ?? noHead)
    }

    /// Updates the mirror, or throws within the deadline.
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
