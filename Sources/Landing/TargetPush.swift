import Watching
import Foundation
import Git
import Sandbox
import TerminalText

/// Moves the target branch to a commit that passed, if the branch still has the commit on which it was built.
struct TargetPush: Sendable {
    enum Outcome: Sendable, Equatable {
        case pushed
        /// The repository refused it, because the branch has moved or is protected. The text is a sentence.
        case rejected(String)
        /// It is not known whether it succeeded. The same push may be repeated.
        case unknown(String)
    }

    let repository: WatchedRepository
    let branch: String
    /// The commit that the branch must have before the push; below, the one that it gets.
    let from: String
    let to: String

    private static let ofRepositories: Set<String> = [
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    ]

    /// Pushes with `git`, so that the hooks and the protection of the repository apply, with the rights of the daemon's
    /// user. Remote and local repositories are treated alike.
    func push() async throws -> Outcome {
        var environment = ProcessInfo.processInfo.environment.filter { !Self.ofRepositories.contains($0.key) }
        environment["GIT_TERMINAL_PROMPT"] = "0"
        environment["LC_ALL"] = "C"
        let ref = "refs/heads/\(branch)"
        // The lease names the expected commit. Without `+`, git also refuses everything but a fast-forward.
        let result = try await ExternalCommand(
            "git",
            [
                "-C", repository.store, "push", "--porcelain", "--no-verify", "--force-with-lease=\(ref):\(from)", "--",
                repository.location, "\(to):\(ref)",
            ], environment: environment, deadline: .seconds(120), outputLimit: 1 << 16
        ).run()
        return Self.outcome(result.text, succeeded: result.succeeded)
    }

    /// Reads the output of `git push --porcelain`: one line for the ref, which begins with the flag `!` if it was
    /// rejected.
    static func outcome(_ text: String, succeeded: Bool) -> Outcome {
        if succeeded { return .pushed }
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard let line = lines.first(where: { $0.hasPrefix("!\t") }) else {
            let said = lines.first { $0.contains("fatal") || $0.contains("error") } ?? lines.first ?? "git push failed"
            return .unknown(TerminalText.name(said, limit: 300))
        }
        let told = lines.first { $0.hasPrefix("remote:") && $0.count > "remote: ".count }
        let reason = line.split(separator: "\t").last.map(String.init) ?? line
        let words = [told, reason].compactMap { $0 }.joined(separator: "; ")
        return .rejected("the push to the branch was refused: \(TerminalText.name(words, limit: 400))")
    }
}
