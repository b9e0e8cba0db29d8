import Engine
package import Results
import Pipeline

/// The variables that tell a step about its run. Text of a change appears only in values.
package enum RunVariables {
    /// All variables except for the run's numbers.
    package static func values(_ prepared: RunPreparation, _ request: RunRequest) -> [String: String] {
        let context = prepared.context
        var variables: [String: String] = [:]
        variables["PIPECTL_REPOSITORY"] = context.repository
        variables["PIPECTL_WORKFLOW"] = request.workflow
        variables["PIPECTL_EVENT"] = context.event.rawValue
        variables["PIPECTL_COMMIT"] = context.commit
        variables["PIPECTL_HEAD"] = request.head
        variables["PIPECTL_REF"] = context.ref
        variables["PIPECTL_BRANCH"] = context.branch
        variables["PIPECTL_TAG"] = context.tag
        variables["PIPECTL_LAST_TAG"] = context.lastTag
        variables["PIPECTL_CHANGE"] = context.change?.name
        variables["PIPECTL_CHANGE_TITLE"] = context.change?.title
        variables["PIPECTL_TARGET"] = context.change?.target
        variables["PIPECTL_TARGET_COMMIT"] = context.change?.targetCommit
        variables["PIPECTL_MERGED_CHANGES"] =
            context.mergedChanges.isEmpty ? nil : context.mergedChanges.map(\.name).joined(separator: " ")
        variables["PIPECTL_VERSION"] = prepared.version?.version
        variables["PIPECTL_MARKETING_VERSION"] = prepared.version?.marketing
        variables["PIPECTL_BUILD_NUMBER"] = prepared.version.map { String($0.buildNumber) }
        variables["SOURCE_DATE_EPOCH"] = String(prepared.commitTime)
        return variables
    }

    /// The variables that every step of the run sees. Text of a change appears only in values.
    package static func environment(_ prepared: RunPreparation, _ run: QueuedRun) -> [String: String] {
        var environment = RunSetting.ownEnvironment
        environment["PIPECTL"] = "true"
        environment["PIPECTL_RUN"] = String(run.id)
        environment["PIPECTL_RUN_ATTEMPT"] = String(run.attempt)
        environment.merge(values(prepared, run.request)) { _, own in own }
        for (name, value) in prepared.context.parameters { environment[StepVariable.parameter(name)] = value }
        // In the kernel a NUL would end the value early.
        return environment.filter { !$0.value.utf8.contains(0) }
    }
}
