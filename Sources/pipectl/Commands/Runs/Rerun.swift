import ArgumentParser
import Client
import CommandHelp
import Control

struct Rerun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun", abstract: "Repeats a finished run as a new run of the same commit and definition.")

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Flag(help: "Repeat only steps that did not pass, in the run's retained workspace.")
    var failed = false
    @Option(name: .customLong("step"), help: "Run only this step and the steps it needs; may be repeated.")
    var steps: [String] = []
    @Flag(
        inversion: .prefixedNo,
        help: "Skip steps that are proved by an earlier run with the same inputs. Default: run all.")
    var proofs = false
    @Flag(help: "Start from a fresh workspace instead of a warm one.")
    var clean = false
    @Flag(help: "Print the new run's number and return at once; needs a daemon.")
    var detach = false
    @Flag(help: "Print the report as JSON.")
    var json = false

    mutating func run() async throws {
        try await state.resolve(&run)
        let folder = try state.folder()
        let access = try await daemonOptions.open(folder, "rerun \(run)")
        do {
            try await IdleFlags.check(daemonOptions.given, access)
            if case .own = access, detach {
                throw CommandEnd(
                    code: 2, message: "--detach needs a running daemon: start `pipectl watch`, or leave it out")
            }
            let accepted = RunNumber()
            var request = RerunRequest(run: run.id)
            (request.failedOnly, request.steps) = (failed, steps)
            (request.usesProofs, request.isClean) = (proofs, clean)
            try await access.ask(.rerun(request)) { reply in
                if case .accepted(let id, _) = reply { await accepted.set(id) }
            }
            guard let id = await accepted.id else {
                throw CommandEnd(code: 3, message: "the daemon did not accept the run")
            }
            if detach { return Terminal.print("\(id)") }
            let following = Following(access: access, state: folder)
            try await following.conclude(id, following.follow(id), json: json)
        } catch {
            await access.close()
            throw error
        }
    }
}
