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
        let result = try await LeasedPush(repository, ref: ref, from: head, to: commit).run()
        guard result.succeeded else {
            let said = result.text.split(whereSeparator: \.isNewline).first { $0.contains("!") || $0.contains("fatal") }
            return .kept("git push: \(TerminalText.name(String(said ?? "failed"), limit: 300))")
        }
        return .pushed(branch: branch)
    }
}
