package import ArgumentParser
import Results

/// Replaces the parser's "unexpected argument" for a command that does not exist.
package enum CommandSuggestion {
    /// `There is no command "rnus". Did you mean "runs"? "pipectl --help" lists all.`
    ///
    /// - Parameter words: The words after `pipectl`.
    /// - Returns: Nil if every word that must name a command does.
    package static func sentence(for words: [String], below root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = ["pipectl"]
        for word in words {
            let below = command.configuration.subcommands
            // The rest is arguments of this command or of its default subcommand.
            guard !below.isEmpty, command.configuration.defaultSubcommand == nil, !word.hasPrefix("-") else {
                return nil
            }
            if let next = below.first(where: { names(of: $0).contains(word) }) {
                (command, path) = (next, path + [word])
                continue
            }
            if word == "help" { return nil }
            let guess = NameSuggestion.question(
                for: word, among: below.filter { $0.configuration.shouldDisplay }.flatMap(names))
            return "There is no command \"\((path + [word]).dropFirst().joined(separator: " "))\".\(guess) "
                + "\"\(path.joined(separator: " ")) --help\" lists all."
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName ?? "\(command)".lowercased()] + command.configuration.aliases
    }
}
