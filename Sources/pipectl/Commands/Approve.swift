import ArgumentParser
import BuildBox
import TerminalText

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Lets a run or step go on that needs approval, or rejects it.",
        discussion: """
            The box asks before it runs a release of a commit that is not merged, a change by an author who is not among \
            --allow-authors, one that touches --protect-paths, and what a workflow says itself. `pipectl status` lists \
            what waits. The answer holds for exactly this commit and workflow definition; a newer push is asked about \
            anew. Your login name, as the system knows it, and the time are kept with the run.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "A step of the run that waits, by its name.")
    var step: String?
    @Flag(help: "Say no: the run ends as cancelled, a step fails.")
    var reject = false
    @Option(help: "Why, for the report.")
    var reason: String?

    mutating func run() async throws {
        try await state.resolve(&run)
        let request = ApproveRequest(run: run.id, step: step, isRejected: reject, comment: reason)
        let access = try await state.open("approve")
        do {
            try await access.ask(.approve(request)) { reply in
                if case .done(let sentence) = reply { Terminal.say(TerminalText.name(sentence, limit: 2_000)) }
            }
            if case .own = access, !reject {
                Terminal.say("no daemon is running: it goes on with the next `pipectl watch`")
            }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
    }
}
