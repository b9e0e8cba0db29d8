import Watching
import Workspaces
import Engine
import TerminalText
import Foundation
import Git
import Sandbox

/// Puts a fix on the change's own branch, where that is still at the commit that failed.
struct FixPush: Sendable {
    enum Outcome: Sendable, Equatable {
        case pushed(branch: String)
        /// Why not, as a sentence's end.
        case kept(String)
    }

    let repository: WatchedRepository
    /// The change's ref, its head that failed, and the target that is never written to.
    let ref: String
    let head: String
    let target: String
    let commit: String

    private static let ofRepositories: Set<String> = [
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    ]

    /// `git` does it, with the hooks and the protection that the repository has, and the rights of the box's user.
    ///
    /// Done twice it does the same: a branch that is at the fix already was pushed to.
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
        // What names a repository, as where the daemon was started by a hook, would be another one than ours.
        var environment = ProcessInfo.processInfo.environment.filter { !Self.ofRepositories.contains($0.key) }
        environment["GIT_TERMINAL_PROMPT"] = "0"
        environment["LC_ALL"] = "C"
        // A lease on the very commit: what somebody pushes meanwhile is never overwritten, nor is it if the watched
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
