import Watching
import WorkflowPrograms
import Engine
import Pipeline
import Results
package import Workspaces

extension RunPreparation {
    /// The facts from which the run's sandbox and workspace are made.
    package func preparedRun(_ task: RunTask) -> PreparedRun {
        PreparedRun(
            run: task.run, repository: task.repository.source, commit: tested, tree: tree, plan: plan,
            wholePlan: wholePlan, definition: definition.tree, trust: trust, startsForChanges: startsForChanges,
            program: program.folders, parameters: context.parameters,
            environment: RunVariables.environment(self, task.run))
    }

    /// Whether changes run the same workflow.
    package var startsForChanges: Bool { declaration.triggers.contains { $0.event == .pullRequest } }
}
