import AgentTools
import ArgumentParser
import Client
import CommandHelp
import Engine
import Foundation
import Git
import Sandbox
import Results
import Store
import TerminalText
import Daemon

@main
struct Pipectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipectl",
        abstract: "Tests every pull request as merged, releases on merge, and keeps the report per commit.",
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Workflows",
                subcommands: [
                    Init.self, EditorCommand.self, Validate.self, PlanCommand.self, Run.self, IntegrityCommand.self,
                ]),
            CommandGroup(
                name: "The build box",
                subcommands: [
                    Watch.self, Notify.self, ForgeCommand.self, Status.self, Wait.self, Approve.self, Protect.self,
                    Cancel.self, Land.self, QueueCommand.self,
                    Rerun.self, Open.self,
                    FixCommand.self, SecretsCommand.self, ConfigCommand.self, PagesCommand.self, TokenCommand.self,
                    MachinesCommand.self,
                ]),
            CommandGroup(
                name: "Reports",
                subcommands: [
                    Runs.self, Show.self, Releases.self, ReleaseCommand.self, Logs.self, ReportCommand.self,
                    Compare.self, Bisect.self, Landed.self,
                    ResultsCommand.self, MergeTree.self, ArtifactsCommand.self,
                    History.self, Flaky.self, Slowest.self, Schema.self,
                ]),
            CommandGroup(name: "Releases", subcommands: [VerifyCommand.self]),
            CommandGroup(name: "Agents", subcommands: [TaskCommands.self, MCPCommand.self, AgentsCommand.self]),
            CommandGroup(
                name: "Upkeep",
                subcommands: [
                    ArchiveCommand.self, GC.self, ProofsCommand.self, Doctor.self, ServiceCommand.self, Upgrade.self,
                ]),
        ]
    )

    /// Parses the command line, runs the command, and exits with the code of the error or verdict.
    static func main() async {
        // Hidden commands of pipectl's own child processes are handled before anything else is set up.
        if let code = DaemonChild.run(CommandLine.arguments) ?? SearchLines.run(CommandLine.arguments) {
            Foundation.exit(code)
        }
        LibraryMessages.silence()
        Memory.prepare()
        OpenFiles.raiseLimit()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let end as CommandEnd {
            if let message = end.message { Terminal.say("pipectl: \(TerminalText.lines(message))") }
            Foundation.exit(end.code)
        } catch {
            let code = exitCode(for: error)
            if code == .validationFailure {
                // The parser would exit with 64 (sysexits.h), but pipectl's code for wrong usage is 2.
                let words = Array(CommandLine.arguments.dropFirst())
                if let sentence = CommandSuggestion.sentence(for: words, below: Self.self) {
                    Terminal.say("pipectl: \(TerminalText.lines(sentence))")
                    Foundation.exit(2)
                }
                let text = fullMessage(for: error)
                Terminal.say(text.hasPrefix("Error: ") ? "pipectl: \(text.dropFirst("Error: ".count))" : text)
                Foundation.exit(2)
            }
            if code == .success, let help = HelpText(fullMessage(for: error)) {
                Terminal.print(help.shown)
                Foundation.exit(0)
            }
            if code == .success || error is ExitCode || error is CleanExit { exit(withError: error) }
            Terminal.say("pipectl: \(TerminalText.lines("\(error)"))")
            Foundation.exit(CommandEnd.code(for: error))
        }
    }
}
