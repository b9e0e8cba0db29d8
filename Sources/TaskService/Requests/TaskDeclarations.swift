import Control
import Git
package import Pipeline
package import Running
package import Watching
import WorkflowPrograms

/// Reads from a repository's target what agents are to do there, and by which rules.
package struct TaskDeclarations: Sendable {
    private let read: @Sendable (WatchedRepository) async throws -> Found

    package init(definitions: WorkflowDefinitions, repositories: KnownRepositories) {
        self.init { try await Self.read($0, definitions, repositories) }
    }

    /// - Parameter read: Reads what a target declares.
    init(_ read: @escaping @Sendable (WatchedRepository) async throws -> Found) { self.read = read }

    /// The rules of a repository.
    package struct Found: Sendable {
        package var declaration: TasksDeclaration
        /// The tip of the branch that changes of tasks are for.
        package var commit: String
    }

    /// What the target of a repository declares now.
    ///
    /// - Throws: ``TaskFailure/notDeclared(repository:branch:)``; `EarlyVerdict` if its workflows can't be used.
    package func find(in repository: WatchedRepository) async throws -> Found { try await read(repository) }

    private static func read(
        _ repository: WatchedRepository, _ definitions: WorkflowDefinitions, _ repositories: KnownRepositories
    ) async throws -> Found {
        let rules = try await repositories.rules(for: repository)
        let refs = try await withRepository(at: repository.gitDirectory) { try $0.snapshot(under: "refs/heads/") }
        let branches = ProtectedBranches.read(refs, rules)
        guard let target = branches.target else {
            throw TaskFailure.unusable("\(repository.name) has no branch yet; push one with workflows/ first")
        }
        let missing = TaskFailure.notDeclared(repository: repository.name, branch: target.branch)
        let tree = try await withRepository(at: repository.store) {
            try $0.treeID(of: target.commit, path: "workflows")
        }
        guard let tree else { throw missing }
        let program = try await definitions.program(at: target.commit, tree: tree, repository)
        guard var declaration = program.description.tasks else { throw missing }
        // Everybody who may push can change a branch that is not protected, and this line runs outside of a sandbox.
        if branches.defaultBranch == nil { declaration.tell = nil }
        guard let tip = refs.refs["refs/heads/\(declaration.branch)"] else {
            throw TaskFailure.unusable(
                "\(repository.name) has no branch \"\(declaration.branch)\", which its tasks are for; correct Tasks(into:)"
            )
        }
        return Found(declaration: declaration, commit: tip.hex)
    }
}
