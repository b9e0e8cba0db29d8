import Control
import ForeignText
import Foundation
import Results

/// What people can do about tasks.
extension PageActions {
    /// The largest body that hands over work, in bytes: as JSON, files are base64.
    static let mostTaskBytes = (TaskDraft.largestCrash + TaskDraft.largestFiles) / 3 * 4 + (1 << 20)

    /// Whether a request hands over work, so that its body may have files.
    static func handsOverWork(_ request: PageRequest) -> Bool {
        request.method == "POST" && (request.path == ["tasks"] || request.path == ["api", "v1", "tasks"])
    }

    /// The request that a path and its fields mean; nil where the path is no such action.
    static func task(_ path: [String], _ fields: Fields) throws(PageProblem) -> TaskCommand? {
        guard path.first == "tasks" else { return nil }
        if path.count == 1 {
            let draft = TaskDraft(
                repository: fields.repository, title: fields.title, text: fields.text ?? "", key: fields.key,
                crash: fields.crash, version: fields.version, files: fields.files ?? [], issue: fields.issue)
            return .add(draft, isForAgent: false)
        }
        guard path.count == 3, let id = TaskID(path[1]), id > 0 else { return nil }
        switch path[2] {
        case "approve":
            // Without it, a version that was made between the look and the click would be approved unseen.
            guard let version = fields.plan else {
                throw PageProblem(.badRequest, "plan is missing: the version of the plan that you looked at")
            }
            return .approve(id, version: version, reason: fields.reason)
        case "land":
            guard let commit = fields.commit, [40, 64].contains(commit.utf8.count) else {
                throw PageProblem(.badRequest, "commit is missing: the whole id of the commit that is to land")
            }
            return .land(id, commit: commit)
        case "remark":
            guard let text = fields.text else { throw PageProblem(.badRequest, "text is missing: the remark") }
            return .remark(id, text)
        case "refuse": return .refuse(id, reason: fields.reason)
        case "cancel": return .cancel(id, reason: fields.reason)
        default: return nil
        }
    }

    static func outcome(_ reply: TaskReply) -> Outcome? {
        switch reply {
        case .added(let task, let isNew):
            outcome("task \(task.id) \(isNew ? "is new" : "is for the same work")", task.id)
        case .task(let view): outcome("task \(view.task.id): \(view.task.state.title)", view.task.id)
        case .list, .difference: nil
        }
    }

    private static func outcome(_ done: String, _ task: TaskID) -> Outcome {
        Outcome(done: done, task: task, page: PageRequest.target(["tasks", "\(task)"]))
    }
}

extension PageForm {
    /// The files of a field that somebody chose.
    func handed(_ name: String) -> [TaskDraft.File] {
        files.filter { $0.name == name }.compactMap { part in
            part.bytes.isEmpty && part.file?.isEmpty != false
                ? nil : TaskDraft.File(name: part.file ?? name, content: Data(part.bytes))
        }
    }
}
