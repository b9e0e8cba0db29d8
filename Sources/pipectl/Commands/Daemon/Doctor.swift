import ArgumentParser
import Client
import Control
import Reports
import StateFiles

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks that this machine has what pipectl needs, and says how to get what is missing.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var checks = await HealthChecks { [state] in try state.folder() }.run()
        // Without a state folder there is no connection, and the checks say what is wrong with it.
        checks += (try? await forges()) ?? []
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

    private func forges() async throws -> [HealthCheck] {
        let all = try await state.ask(.forges, "doctor") { if case .forges(let all) = $0 { all } else { nil } }
        return await ForgeHealth.all(all, credentials: try state.folder().forges, asksForges: true).map {
            HealthCheck(name: "forge", isGood: $0.isGood, found: $0.line)
        }
    }
}
