import ArgumentParser
import Client
import Control
import Foundation
import Results
import TaskText
import Tasks
import TerminalText

struct TaskShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a task: its way with times, the plan, what was done, and what comes next."
    )

    @OptionGroup var task: TaskOption
    @Flag(help: "Print only the newest plan, in Markdown.") var plan = false
    @Flag(help: "Print what the newest version of the plan changes.") var diff = false
    @Flag(help: "Print what the offered try changes, as a patch.") var patch = false
    @Option(help: "With --patch: the try.") var attempt: Int?
    @Flag(help: "Print everything that happened, a line each.") var history = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if [plan, diff, patch, history, json].count(where: \.self) > 1 {
            throw ValidationError("--plan, --diff, --patch, --history and --json exclude each other")
        }
        if attempt != nil && !patch { throw ValidationError("--attempt goes with --patch") }
    }

    func run() async throws {
        if patch { return try await printPatch() }
        let story = TaskStory(try await task.view())
        if json { return try JSONOutput.print(story) }
        if plan || diff { return try printPlan(story) }
        let report = TaskReport(story) { TaskTable.signed($0, colour: Terminal.hasColour) }
        if history { return Terminal.put(report.history.map { $0 + "\n" }.joined()) }
        Terminal.put(report.text)
    }

    private func printPlan(_ story: TaskStory) throws {
        guard let newest = story.plan else {
            throw CommandEnd(
                code: 2, message: "task \(task.task) has no plan yet; `pipectl task watch \(task.task)` waits for it")
        }
        if plan {
            let text = PlanWords.lines(newest).joined(separator: "\n") + "\n"
            return Terminal.put(Self.safe(text))
        }
        guard let older = story.plans.dropLast().last else {
            throw CommandEnd(code: 2, message: "task \(task.task) has one version of its plan; --plan prints it")
        }
        Terminal.put(Self.safe(TaskPlanDifference(from: older, to: newest).text))
    }

    private func printPatch() async throws {
        let (id, attempt) = (task.task, attempt)
        let text = try await task.state.ask(.task(.difference(id, attempt: attempt)), "task show") {
            if case .task(.difference(let text)) = $0 { text } else { nil }
        }
        guard !text.isEmpty else { throw CommandEnd(code: 2, message: "task \(id) has no try yet") }
        // For `git apply` the bytes as they are: a patch that was cleaned for a terminal would differ.
        Terminal.put(Terminal.outputIsTerminal ? Self.safe(text) : text)
    }

    private static func safe(_ text: String) -> String { TerminalText.clean(text.utf8, colours: false) }
}
