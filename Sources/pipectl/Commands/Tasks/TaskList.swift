import ArgumentParser
import Client
import Control
import Foundation
import Results
import TaskText

struct TaskList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists tasks: those that wait for a person first, then the newest.")

    @OptionGroup var state: StateOptions
    @Option(help: "Only tasks of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(
        name: .customLong("in"),
        help: "Only tasks in this state, such as planWaits, working or ready; may be repeated.")
    var states: [String] = []
    @Option(name: [.customShort("n"), .long], help: "Show at most N tasks.") var limit = 50
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        let known = TaskState.all.map(\.rawValue)
        for name in states where !known.contains(name) {
            throw ValidationError("a task is \(known.joined(separator: ", ")), not \(name)")
        }
    }

    func run() async throws {
        let filter = TaskFilter(
            repository: repository.map(RunSubject.repository),
            states: states.isEmpty ? nil : Set(states.map(TaskState.init)), limit: limit)
        let tasks = try await state.ask(.task(.list(filter)), "task list") {
            if case .task(.list(let tasks)) = $0 { tasks } else { nil }
        }
        if json { return try JSONOutput.print(tasks) }
        if tasks.isEmpty { return Terminal.say("no task; `pipectl task add \"…\"` hands one over") }
        Terminal.put(
            TaskTable.text(tasks, colour: Terminal.hasColour, width: Terminal.outputIsTerminal ? Terminal.width : nil))
    }
}
