import Watching
import Workspaces
import Engine
import TerminalText
import Foundation
import Git
import Sandbox

/// Pushes a fix to the change's own branch, if that is still at the commit that failed.
struct FixPush: Sendable {
    enum Outcome: Sendable, Equatable {
        case pushed(branch: String)
        /// Why it was not pushed, as the end of a sentence.
        case kept(String)
    }

    let repository: WatchedRepository
    /// The change's ref, the head that failed, and the target, which is never written to.
    let ref: String
    let head: String
    let target: String
    let commit: String

    private static let ofRepositories: Set<String> = [
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    ]

    /// Pushes with `git`, with the repository's hooks and protection, and the rights of the daemon's user.
    ///
    /// Repeating it has the same result: a branch that is at the fix already was pushed to.
    func push() async throws -> Outcome {
        let prefix = "refs/heads/"
        guard ref.utf8.starts(with: prefix.utf8) else {
            return .kept("the build box does not know the branch of \(TerminalText.name(ref))")
        }
        let branch = String(Substring(ref.utf8.dropFirst(prefix.utf8.count)))
        guard branch != target else { return .kept("the branch is the target") }
        let tip = try await withRepository(at: repository.gitDirectory) {
            try $0.snapshot(under: prefix).refs[ref]?.hex
        }
        if tip == commit { return .pushed(branch: branch) }
        guard tip == head else { return .kept("\(TerminalText.name(branch)) is no longer at \(head.prefix(10))") }
        // A variable that names a repository, for example if a hook started the daemon, would mean another one.
        var environment = ProcessInfo.processInfo.environment.filter { !Self.ofRepositories.contains($0.key) }
        environment["GIT_TERMINAL_PROMPT"] = "0"
        environment["LC_ALL"] = "C"
        // A lease on the exact commit: a push that comes meanwhile is never overwritten, not even if the watched
        // repository was read too long ago.
        let result = try await ExternalCommand(
            "git",
            [
                "-C", repository.store, "push", "--porcelain", "--no-verify", "--force-with-lease=\(ref):\(head)",
                "--", repository.location, "\(commit):\(ref)",
            ], environment: environment, deadline: .seconds(120), outputLimit: 1 << 14
        ).run()
        guard result.succeeded else {
            let said = result.text.split(whereSeparator: \.isNewline).first { $0.contains("!") || $0.contains("fatal") }
            return .kept("git push: \(TerminalText.name(String(said ?? "failed"), limit: 300))")
        }
        return .pushed(branch: branch)
    }
}
