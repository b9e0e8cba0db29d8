import Client
import Control
import Foundation
import MCP
import Results
import TaskText

/// Tools that read about tasks and hand over work. None of them approves, refuses or lands: that is for people.
extension Toolbox {
    var listTasks: AgentTool {
        AgentTool(
            name: "list_tasks", title: "List tasks",
            summary: "Work that was handed to agents, newest first: its state and why it is in it.", effect: .reads,
            parameters: [
                Self.repository,
                AgentTool.Parameter(
                    "state", JSONSchema.choice(TaskState.all.map(\.rawValue), "Only tasks in this state.")),
                AgentTool.Parameter(
                    "before", JSONSchema.integer(1...Int.max, "Only tasks with a smaller number: the next page.")),
                AgentTool.Parameter("limit", JSONSchema.integer(1...1_000, "The most tasks to return.", standard: 20)),
                Self.budget,
            ], output: Self.listSchema("tasks", ["type": "object"])
        ) { arguments, _ in
            let budget = try budget(arguments)
            let state = try arguments.string("state").map(TaskState.init(rawValue:))
            let filter = TaskFilter(
                repository: try arguments.string("repository"), states: state.map { [$0] },
                before: try arguments.integer("before", in: 1...Int.max).map { TaskID($0) },
                limit: try arguments.integer("limit", in: 1...1_000) ?? 20)
            let tasks = try await ask(.task(.list(filter))) {
                if case .task(.list(let tasks)) = $0 { tasks } else { nil }
            }
            return Self.list(try tasks.map { try JSON(encoding: TaskEntry($0)) }, as: "tasks", within: budget) {
                count in
                ["before": .integer(Int(tasks[max(count - 1, 0)].id))]
            }
        }
    }

    var getTask: AgentTool {
        AgentTool(
            name: "get_task", title: "Get a task",
            summary: """
                One task: what is to be done, its plan, what was made, its stations with times, and everything that \
                happened to it, oldest first.
                """, effect: .reads,
            parameters: [
                AgentTool.Parameter(
                    "task", JSONSchema.integer(1...Int.max, "The task's number."), isRequired: true), Self.budget,
            ],
            output: Self.listSchema(
                "events", ["type": "object"], others: ["task": ["type": "object"], "stages": ["type": "array"]])
        ) { arguments, _ in
            let budget = try budget(arguments)
            guard let number = try arguments.integer("task", in: 1...Int.max) else {
                throw ToolFailure("the argument \"task\" is missing.")
            }
            let view = try await ask(.task(.show(TaskID(number)))) {
                if case .task(.task(let view)) = $0 { view } else { nil }
            }
            let story = TaskStory(
                view.task, view.events, reviews: Set(view.runs.filter { $0.task?.part == .reviewing }.map(\.id)))
            var others: [String: JSON] = [
                "task": try JSON(encoding: TaskEntry(view.task)), "text": .string(String(view.task.text.prefix(4_000))),
                "stages": .array(try story.stages.map { try JSON(encoding: $0) }),
            ]
            if let plan = story.plan { others["plan"] = .string(PlanWords.lines(plan).joined(separator: "\n")) }
            if let made = story.offered { others["offered"] = try JSON(encoding: made) }
            return Self.list(
                try view.events.map { try JSON(encoding: $0) }, as: "events", others: others, within: budget
            ) { _ in ["maximum_bytes": .integer(Self.budgets.upperBound)] }
        }
    }

    var addTask: AgentTool {
        AgentTool(
            name: "add_task", title: "Hand over work",
            summary: """
                Makes a task: an agent of the build box plans it, a person approves the plan, and the change is tested \
                and reviewed. Use it for work outside of what you were asked to do. Only a person can approve or land.
                """, effect: .adds,
            parameters: [
                AgentTool.Parameter("text", JSONSchema.string("What is to be done, and why."), isRequired: true),
                AgentTool.Parameter("title", JSONSchema.string("One line.")),
                AgentTool.Parameter(
                    "repository", JSONSchema.string("The repository by its name on the build box. Default: this one.")),
                AgentTool.Parameter(
                    "key", JSONSchema.string("A name for this work: a second request with it finds the first.")),
            ],
            output: JSONSchema.answer(
                [
                    "task": JSONSchema.integer(1...Int.max, "The task's number."),
                    "is_new": JSONSchema.bool("Whether there was none for the same work."), "state": ["type": "string"],
                ],
                required: ["task", "is_new", "state"])
        ) { arguments, _ in
            guard let text = try arguments.string("text", atMost: TaskDraft.longestText) else {
                throw ToolFailure("the argument \"text\" is missing.")
            }
            let place = try arguments.string("repository") ?? (try? RunSubject.top(of: folder)) ?? folder
            let draft = TaskDraft(
                repository: place, title: try arguments.string("title", atMost: TaskDraft.longestTitle), text: text,
                key: try arguments.string("key", atMost: 500))
            let (task, isNew) = try await order(.task(.add(draft, isForAgent: true))) { reply -> (TaskRecord, Bool)? in
                if case .task(.added(let task, let isNew)) = reply { (task, isNew) } else { nil }
            }
            return ToolAnswer([
                "task": .integer(Int(task.id)), "is_new": .bool(isNew), "state": .string(task.state.rawValue),
            ])
        }
    }
}

/// A task as lists show it.
private struct TaskEntry: Encodable {
    var id: TaskID
    var repository: String
    var title: String
    var state: String
    var reason: String
    var source: String
    var createdAt: Date
    var change: String?
    var release: String?

    init(_ task: TaskRecord) {
        (id, repository, title) = (task.id, task.repository, task.title)
        (state, reason, source) = (task.state.rawValue, task.reason, TaskWords.source(of: task))
        (createdAt, change, release) = (task.createdAt, task.change, task.release)
    }
}
