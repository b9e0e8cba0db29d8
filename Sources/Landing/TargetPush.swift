import Sandbox
import TerminalText
import Watching

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

    func push() async throws -> Outcome {
        let result = try await LeasedPush(repository, ref: "refs/heads/\(branch)", from: from, to: to).run()
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
