import ArgumentParser
import Client
import Reports

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks that this machine has what pipectl needs, and says how to get what is missing.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var checks = await HealthChecks { [state] in try state.folder() }.run()
        // Without a state folder there is no connection, and the checks say what is wrong with it.
        for forge in (try? await ForgeHealth.all(state, asksForges: true)) ?? [] {
            checks.append(HealthCheck(name: "forge", isGood: forge.isGood, found: forge.line))
        }
        if json {
            try JSONOutput.print(checks)
        } else {
            for check in checks {
                Terminal.print("\(Wording.symbol(ofGood: check.isGood)) \(check.name): \(check.found)")
            }
        }
        let bad = checks.count { !$0.isGood }
        if bad > 0 { throw CommandEnd(code: 3, message: "\(bad) of \(checks.count) checks failed") }
    }
}
