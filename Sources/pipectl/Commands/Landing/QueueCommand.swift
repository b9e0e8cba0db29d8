import ArgumentParser
import Client
import Control
import StateFiles
import TerminalText

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Shows the merge queues: what is tested on top of what, and what landed.",
        discussion: """
            A frozen queue tests and lands nothing, and keeps its changes. It also freezes by itself where the build machine \
            can't test, or a push is refused; `--resume` lets it go on.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var repository: RepositoryOption
    @Option(help: "Only the queue of this branch.")
    var branch: String?
    @Option(help: ArgumentHelp("Freezes the queue for this reason.", valueName: "reason"))
    var freeze: String?
    @Flag(help: "Lets a frozen queue go on.")
    var resume = false
    @Flag(help: "Prints JSON.") var json = false

    func validate() throws {
        if freeze != nil && resume { throw ValidationError("--freeze and --resume exclude each other") }
        if freeze?.isEmpty == true { throw ValidationError("--freeze takes a reason, which everybody sees") }
    }

    func run() async throws {
        if freeze != nil || resume {
            let request = FreezeRequest(repository: repository.place, branch: branch, reason: freeze)
            let words = try await state.ask(.freezeQueue(request), "queue") {
                if case .completed(let action) = $0 { action.inWords } else { nil }
            }
            return Terminal.say(TerminalText.name(words, limit: 2_000))
        }
        let branch = branch
        let queues = try await state.ask(.mergeQueues(repository.place), "queue") {
            if case .mergeQueues(let queues) = $0 {
                queues.filter { branch == nil || $0.branch == branch }
            } else {
                nil
            }
        }
        if json { return try JSONOutput.print(queues) }
        if queues.isEmpty { return Terminal.say("no change was queued yet; `pipectl land CHANGE` queues one") }
        for queue in queues { Terminal.put(QueueText.text(queue)) }
    }
}
