import Git
import Results
import Sandbox
import Store
import TerminalText
import Watching

extension TaskChanges {
    /// What became of the branch of a task whose change has landed.
    enum Removal: Sendable, Equatable {
        case removed
        /// It is gone already, or has commits that are not of this task.
        case leftAlone
        /// Its change is not recorded as landed yet.
        case notYet
        case failed(String)
    }

    /// Removes the branch that was pushed for a task, once its change has landed. A commit that somebody made on top of
    /// it keeps the branch. May be repeated.
    func removeBranch(of known: TaskFacts.Known) async throws -> Removal {
        let task = known.task
        guard let opened = Self.opened(known.events) else { return .leftAlone }
        // Without the branch, a change that has not landed would count as closed.
        guard try await index.change(opened.name, of: task.repository)?.state == .landed else { return .notYet }
        return try await BranchRemoval(
            repository: repositories.repository(named: task.repository), branch: task.changeBranch,
            commit: opened.commit, target: task.branch
        ).run()
    }
}

/// Removes a branch from a watched repository, if it is still at the commit that pipectl pushed.
struct BranchRemoval: Sendable {
    let repository: WatchedRepository
    let branch: String
    let commit: String
    /// The target of the change, which is never removed.
    let target: String

    func run() async throws -> TaskChanges.Removal {
        let ref = "refs/heads/\(branch)"
        let tip = try await withRepository(at: repository.gitDirectory) {
            try $0.snapshot(under: "refs/heads/").refs[ref]?.hex
        }
        guard branch != target, tip == commit else { return .leftAlone }
        let result = try await LeasedPush(removing: ref, at: commit, from: repository).run()
        guard !result.succeeded else { return .removed }
        let said = result.text.split(whereSeparator: \.isNewline).first {
            $0.contains("!") || $0.contains("fatal") || $0.contains("error")
        }
        return .failed("git push: \(TerminalText.name(String(said ?? "failed"), limit: 300))")
    }
}
