import ArgumentParser
import Client
import Control
import StateFiles
import TerminalText

struct Land: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "land", abstract: "Puts a change into the merge queue of its target branch.",
        discussion: """
            The daemon tests the change as merged on top of those before it, and moves the branch to the very commit that \
            passed. A change that fails leaves the queue, and one that is pushed to as well. How changes land is declared in \
            workflows/ of the target: `static let landing = Landing(into: "main", requires: [test])`.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var repository: RepositoryOption
    @Argument(help: "The change: its number, or its branch.")
    var change: String
    @Option(help: "Changes with a larger number land first, also before those that are being tested: -1000 to 1000.")
    var priority = 0
    @Flag(help: "Takes the change out of the queue.")
    var cancel = false

    func validate() throws {
        if !(-1_000...1_000).contains(priority) { throw ValidationError("--priority takes -1000 to 1000") }
        if cancel && priority != 0 { throw ValidationError("--cancel and --priority exclude each other") }
    }

    func run() async throws {
        let request: DaemonRequest =
            cancel
            ? .cancelLanding(CancelLandingRequest(repository: repository.place, change: change))
            : .land(LandRequest(repository: repository.place, change: change, priority: priority))
        let access = try await state.open("land")
        do {
            try await access.ask(request) { reply in
                if case .completed(let action) = reply { Terminal.say(TerminalText.name(action.inWords, limit: 2_000)) }
            }
            if case .own = access, !cancel {
                Terminal.say("no daemon is running: it lands when `pipectl watch` starts")
            }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
    }
}
