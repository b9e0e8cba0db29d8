import ArgumentParser
import Client
import Control
import Results
import TerminalText

struct TaskAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Hands over work: what is to be done, a crash report, files.",
        discussion: "It prints the task's number. The same crash, issue or key finds the task that there is.")

    @OptionGroup var state: StateOptions
    @OptionGroup var repository: RepositoryOption
    @Argument(help: "What is to be done; - is standard input.") var text: String?
    @Option(help: ArgumentHelp("A crash report, at most 4 MiB.", valueName: "path")) var crash: String?
    @Option(help: ArgumentHelp("A file for the agent to read; may be repeated.", valueName: "path"))
    var file: [String] = []
    @Option(help: "The number of an issue at the forge that says what is to be done.") var issue: Int?
    @Option(help: "One line. Default: the crash, or the first line of the text.") var title: String?
    @Option(help: "A name for this work: a second request with it finds the first.") var key: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if text == nil && crash == nil && issue == nil {
            throw ValidationError("say what is to be done, or give --crash or --issue")
        }
        if let issue, issue < 1 { throw ValidationError("--issue takes the number of an issue") }
    }

    func run() async throws {
        var draft = TaskDraft(
            repository: repository.place, title: title,
            text: text == "-" ? try HandedFile.standardInput(atMost: TaskDraft.longestText) : text ?? "",
            key: key, crash: try crash.map { try HandedFile.read($0, atMost: TaskDraft.largestCrash).content },
            issue: issue)
        guard file.count <= TaskDraft.mostFiles else {
            throw CommandEnd(code: 2, message: "a task takes at most \(TaskDraft.mostFiles) files; name fewer")
        }
        var room = TaskDraft.largestFiles
        for path in file {
            let read = try HandedFile.read(path, atMost: room)
            room -= read.content.count
            draft.files.append(read)
        }
        let asked = draft
        let (task, isNew) = try await state.ask(.task(.add(asked, isForAgent: false)), "task add") {
            reply -> (TaskRecord, Bool)? in
            if case .task(.added(let task, let isNew)) = reply { (task, isNew) } else { nil }
        }
        if json { return try JSONOutput.print(AddedTask(task: task, isNew: isNew)) }
        Terminal.print("\(task.id)")
        let words = isNew ? "is new" : "is for the same work"
        Terminal.say(
            TerminalText.name("task \(task.id) of \(task.repository) \(words): \(task.title)", limit: 500))
        Terminal.say("next: pipectl task watch \(task.id)")
    }
}

/// A task that was asked for, as JSON.
private struct AddedTask: Encodable {
    var task: TaskRecord
    /// Whether there was none for the same work.
    var isNew: Bool
}
