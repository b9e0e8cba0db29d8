import ArgumentParser
import Client
import Control
import StateFiles
import TerminalText

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approves or rejects a run or step that needs approval.",
        discussion: """
            These need approval: a release of a commit that is not merged, a change by an author who is not in \
            --allow-authors, a change to --protect-paths, and whatever a workflow declares. `pipectl status` lists the \
            waiting runs and steps. The decision applies to exactly this commit and workflow definition; a newer push needs a new \
            one. The report records your login name and the time.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "The name of the waiting step.")
    var step: String?
    @Flag(help: "Reject it: the run is cancelled; a rejected step fails.")
    var reject = false
    @Option(help: "The reason, shown in the report.")
    var reason: String?

    mutating func run() async throws {
        try await state.resolve(&run)
        let request = ApproveRequest(run: run.id, step: step, isRejected: reject, comment: reason)
        let access = try await state.open("approve")
        do {
            try await access.ask(.approve(request)) { reply in
                if case .completed(let action) = reply { Terminal.say(TerminalText.name(action.inWords, limit: 2_000)) }
            }
            if case .own = access, !reject {
                Terminal.say("no daemon is running: the run continues when `pipectl watch` starts")
            }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
    }
}
