import ArgumentParser
import Testing

@testable import pipectl

/// Names of commands.
@Suite struct CommandNameTests {
    private static func commands(below command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(below: $0) }
    }

    /// Without a name the parser derives it from the type, for every command at every start, which takes 5 ms together.
    @Test func `every command knows its own name`() {
        let commands = Self.commands(below: Pipectl.self)
        #expect(commands.count > 40)
        #expect(commands.filter { $0.configuration.commandName == nil }.map { "\($0)" } == [])
    }
}
