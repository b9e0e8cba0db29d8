import Results
import Pipeline

/// The variables that tell a step about its run. Names that a change chose come as values only.
enum RunVariables {
    /// All but the numbers of the run itself.
    static func values(_ prepared: RunPreparation, _ request: RunRequest) -> [String: String] {
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
        variables["SOURCE_DATE_EPOCH"] = String(prepared.commitTime)
        return variables
    }
}
