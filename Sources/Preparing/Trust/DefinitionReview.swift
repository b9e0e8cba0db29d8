package import Watching
package import Results
import Engine
import Git
import Pipeline
import PlanRules
package import WorkflowPrograms

/// Examines the workflow definition of a change. The result is a finding for the reader, never part of the verdict.
///
/// The change's program is untrusted code. It is compiled and planned in a sandbox, in a separate cache, and with the
/// usual time limits.
package struct DefinitionReview: Sendable {
    package var run: RunPreparation
    package var repository: WatchedRepository
    package var programs: ProgramCache

    package init(run: RunPreparation, repository: WatchedRepository, programs: ProgramCache) {
        self.run = run
        self.repository = repository
        self.programs = programs
    }

    /// What the change's definition would do; nil if it is the one that ran, or if the review did not finish.
    package func finding() async -> Finding? {
        do {
            let tested = run.tested
            let tree = try await withRepository(at: repository.store) { store in
                try store.treeID(of: tested, path: "workflows")
            }
            guard tree?.hex != run.definition.tree else { return nil }
            guard let tree else {
                return finding(.warning, "the change removes workflows/: nothing would run any more")
            }
            return try await finding(of: tree)
        } catch let error as DefinitionError {
            return finding(.warning, "the change's own definition \(Self.words(for: error))")
        } catch {
            if Task.isCancelled { return nil }
            return finding(.note, "the change's own definition could not be checked: \(error)")
        }
    }

    private func finding(of tree: OID) async throws -> Finding {
        let workflow = run.plan.workflow
        let sources = try await CommitWorkflows.sources(tree: tree, gitDirectory: repository.store)
        let program = try await programs.untrusted.program(for: sources)
        guard program.names.contains(workflow) else {
            return finding(
                .warning, "the change's own definition would compile; it removes the workflow \"\(workflow)\"")
        }
        let plan = try await program.plan(workflow: workflow, context: run.context)
        let difference = PlanDifference(from: run.wholePlan, to: plan)
        return finding(
            difference.removed.isEmpty ? .note : .warning,
            "the change's own definition would compile; it \(difference.inWords)")
    }

    private func finding(_ severity: Finding.Severity, _ message: String) -> Finding {
        Finding(
            rule: "definition-review", severity: severity, message: message, file: nil, line: nil, column: nil,
            suggestion: nil)
    }

    /// `does not compile: workflows/x.swift:3:5: error: …`, with the compiler's first error.
    package static func words(for error: DefinitionError) -> String {
        let lines = error.output.split(separator: "\n").map(String.init)
        let first = lines.first { $0.contains("error:") } ?? error.findings.first?.description ?? error.message
        let text = String(first.prefix(500))
        switch error.code {
        case .compileFailed, .noEntryPoint, .noWorkflows: return "does not compile: \(text)"
        case .compileTimedOut: return "does not compile in time: \(error.message)"
        case .planTimedOut, .planFailed, .badAnswer: return "would compile, but can't be planned: \(error.message)"
        default: return "would compile, but is not valid: \(text)"
        }
    }
}
