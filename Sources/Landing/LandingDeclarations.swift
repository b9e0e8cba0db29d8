import DaemonLog
package import Watching
package import Running
import Control
import Git
package import Logging
import MergeQueue
import Pipeline
import Results
import WorkflowPrograms

/// Reads from a branch's own workflows how changes land in it.
package struct LandingDeclarations: Sendable {
    let definitions: WorkflowDefinitions
    let repositories: KnownRepositories
    let log: Logger

    package init(definitions: WorkflowDefinitions, repositories: KnownRepositories, log: Logger) {
        (self.definitions, self.repositories, self.log) = (definitions, repositories, log)
    }

    /// The rules of a branch and the commit that defines them.
    struct Found: Sendable {
        var landing: LandingDeclaration
        var rules: QueueRules
        /// The commit whose `workflows/` is used.
        var definition: OID
    }

    /// The rules for landing in a branch whose tip is `tip`; nil if none are declared or `workflows/` can't be used.
    ///
    /// Everybody who may push can change a branch that is not protected. For such a branch, the `workflows/` of the
    /// protected default branch is used.
    func find(for branch: String, at tip: OID, in repository: WatchedRepository) async throws -> Found? {
        let rules = try await repositories.rules(for: repository)
        let (gitDirectory, store) = (repository.gitDirectory, repository.store)
        let source = try await withRepository(at: gitDirectory) { git -> OID? in
            let protected = ProtectedBranches.read(try git.snapshot(under: "refs/heads/"), rules)
            // The tip may be a commit that is about to land. Because it passed, it is trusted like the branch.
            return protected.tips.contains { $0.branch == branch } ? tip : protected.defaultTip
        }
        guard let source else { return nil }
        let tree = try await withRepository(at: store) { try $0.treeID(of: source, path: "workflows") }
        guard let tree else { return nil }
        let program: WorkflowProgram
        do {
            program = try await definitions.program(at: source, tree: tree, repository)
        } catch let early as EarlyVerdict {
            log.error(
                "\(repository.name): nothing lands in \(branch), because its workflows/ can't be used: \(early)",
                metadata: .code(.queueStopped, repository: repository.name))
            return nil
        }
        guard let landing = program.description.landings?.first(where: { $0.branch == branch }) else { return nil }
        return Found(landing: landing, rules: QueueRules(landing, definition: tree.hex), definition: source)
    }
}

extension QueueRules {
    init(_ landing: LandingDeclaration, definition: String) {
        self.init(
            workflows: landing.workflows, method: landing.method.rawValue, definition: definition,
            batchSize: landing.batchSize, depth: landing.depth, attempts: landing.attempts,
            mover: landing.merger == .forge ? .forge : .push)
    }
}
