import ArgumentParser
import Client
import Control
import Results
import TaskText
import TerminalText

struct TaskCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "task", abstract: "Hands work to an agent, and follows it to the version that has it.",
        discussion: """
            A task goes from a prompt, an issue or a crash report over a plan that you approve to a change that was tested \
            and reviewed; `task land` puts it into the merge queue. Which agents work, and what must pass, is declared in \
            workflows/ of the target: `static let tasks = Tasks(into: "main", by: .claude, mustPass: [test])`.
            """,
        subcommands: [
            TaskAdd.self, TaskList.self, TaskShow.self, TaskWatch.self, TaskApprove.self, TaskRemark.self,
            TaskRefuse.self, TaskCancel.self, TaskLand.self,
        ], defaultSubcommand: TaskList.self)
}

/// One task, by its number.
struct TaskOption: ParsableArguments {
    @OptionGroup var state: StateOptions
    @Argument(help: "The task's number.", transform: Self.number) var task: TaskID

    private static func number(_ text: String) throws -> TaskID {
        guard let number = TaskID(text), number > 0 else {
            throw ValidationError("\"\(TerminalText.name(text))\" is no task's number; `pipectl task list` lists them")
        }
        return number
    }

    func view() async throws -> TaskView { try await ask(.show(task)) }

    /// The task after what was asked for.
    func ask(_ command: TaskCommand) async throws -> TaskView {
        try await state.ask(.task(command), "task") { if case .task(.task(let view)) = $0 { view } else { nil } }
    }

    /// Does what a person decided, and says how the task is now.
    func decide(_ command: TaskCommand, json: Bool) async throws {
        let view = try await ask(command)
        if json { return try JSONOutput.print(TaskStory(view)) }
        Terminal.say(TaskLines.state(view.task))
    }
}

/// Lines about tasks for people.
enum TaskLines {
    /// `task 12: ready to land: …`.
    static func state(_ task: TaskRecord) -> String {
        TerminalText.name(
            "task \(task.id): \(task.state.title)" + (task.reason.isEmpty ? "" : ": \(task.reason)"), limit: 1_000)
    }
}

extension TaskStory {
    init(_ view: TaskView) {
        self.init(
            view.task, view.events,
            reviews: Set(view.runs.filter { $0.task?.part == .reviewing }.map(\.id)))
    }
}
