package import Watching
package import Control
package import Results
import Store
import Archive
import Engine
import Foundation
package import Git
package import Pipeline
package import WorkflowPrograms

/// The workflows that commits define.
package struct WorkflowDefinitions: Sendable {
    package let repositories: KnownRepositories
    package let tools: BuildTools

    package init(repositories: KnownRepositories, tools: BuildTools) {
        self.repositories = repositories
        self.tools = tools
    }

    /// The compiled workflows of a commit.
    package func program(at commit: OID, tree: OID, _ repository: WatchedRepository) async throws -> WorkflowProgram {
        try await CommitWorkflows.program(at: commit, tree: tree, repository, tools.programs())
    }

    /// The workflow of a run by hand, from the commit that defines it.
    ///
    /// - Throws: ``RequestError`` if there is no such workflow, ``EarlyVerdict`` if the definition can't be used.
    package func declaration(of request: RunRequest, in repository: WatchedRepository) async throws
        -> WorkflowDeclaration
    {
        guard let commit = OID(hex: request.definitionCommit) else { throw RequestError(.usage, "no commit") }
        let tree = try await withRepository(at: repository.store) { try $0.treeID(of: commit, path: "workflows") }
        guard let tree else {
            throw RequestError(
                .noWorkflows,
                "commit \(request.definitionCommit.prefix(10)) of \(repository.location) has no workflows/. Run "
                    + "`pipectl init` there and commit what it writes.")
        }
        let program = try await program(at: commit, tree: tree, repository)
        do { return try program.declaration(of: request.workflow) } catch {
            throw RequestError(.unknownWorkflow, error.message)
        }
    }

    /// The target and the integrity rules of the repository that a name, a path, a URL or a clone means.
    package func integrityPolicy(of text: String) async throws -> IntegrityPolicy {
        let repository = try await repositories.repository(named: repositories.name(of: text))
        let rules = try await repositories.rules(for: repository)
        var policy = IntegrityPolicy(repository: repository.name, gitDirectory: repository.gitDirectory)
        let target = try await withRepository(at: repository.gitDirectory) {
            ProtectedBranches.read(try $0.snapshot(under: "refs/heads/"), rules).target
        }
        guard let target else { return policy }
        (policy.target, policy.targetCommit) = (target.branch, target.commit.hex)
        do {
            policy.rules = try await integrityRules(at: target.commit, in: repository)
        } catch let error as EarlyVerdict {
            policy.problem = "the workflows of \(target.branch) can't be read: \(error.reason)"
        }
        return policy
    }

    private func integrityRules(at commit: OID, in repository: WatchedRepository) async throws -> [IntegrityRule]? {
        let found = try await withRepository(at: repository.store) { try $0.treeID(of: commit, path: "workflows") }
        guard let tree = found else { return nil }
        let program = try await program(at: commit, tree: tree, repository)
        let sets = program.description.workflows.compactMap(\.integrity)
        guard !sets.isEmpty else { return nil }
        return sets.reduce(into: []) { all, rules in all += rules.filter { !all.contains($0) } }
    }
}
