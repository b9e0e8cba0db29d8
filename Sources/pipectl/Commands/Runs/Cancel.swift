import ArgumentParser
import Client
import Control

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Cancels a queued or running run.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "The reason, shown in the report.")
    var reason = "cancelled by hand"

    mutating func run() async throws {
        try await state.resolve(&run)
        try await state.act(.cancel(run.id, reason: reason), "cancel")
    }
}
