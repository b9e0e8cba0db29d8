import Foundation
package import Sandbox

/// A `git push` of a commit to a branch of a watched repository, if the branch still has the commit that is expected.
///
/// It is done with `git`, so that the hooks and the protection of the repository apply, with the rights of the daemon's
/// user. Remote and local repositories are treated alike.
package struct LeasedPush: Sendable {
    let repository: WatchedRepository
    let ref: String
    let from: String
    let to: String

    /// - Parameters:
    ///   - from: The commit that the branch must have before the push.
    ///   - to: The commit that it gets.
    package init(_ repository: WatchedRepository, ref: String, from: String, to: String) {
        (self.repository, self.ref, self.from, self.to) = (repository, ref, from, to)
    }

    /// Removes the branch instead, if it has the commit.
    package init(removing ref: String, at commit: String, from repository: WatchedRepository) {
        // A push of nothing removes a ref (git-push(1)).
        self.init(repository, ref: ref, from: commit, to: "")
    }

    /// Variables that name a repository. They are set, for example, where a hook started the daemon, and mean another one.
    private static let ofRepositories: Set<String> = [
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    ]

    /// The output of `git push --porcelain`.
    package func run() async throws -> ExternalCommandResult {
        var environment = ProcessInfo.processInfo.environment.filter { !Self.ofRepositories.contains($0.key) }
        environment["GIT_TERMINAL_PROMPT"] = "0"
        environment["LC_ALL"] = "C"
        // The lease names the exact commit: a push that comes meanwhile is never overwritten, not even if the repository
        // was read too long ago. Without `+`, git also refuses everything but a fast-forward.
        return try await ExternalCommand(
            "git",
            [
                "-C", repository.store, "push", "--porcelain", "--no-verify", "--force-with-lease=\(ref):\(from)", "--",
                repository.location, "\(to):\(ref)",
            ], environment: environment, deadline: .seconds(120), outputLimit: 1 << 16
        ).run()
    }
}
