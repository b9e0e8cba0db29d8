import Results
import Secrets
import ArgumentParser
import Client
import Foundation
import StateFiles

struct SecretsList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the secrets, where each is stored, and when it was set.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let (records, problems) = try SecretStores(state: state.folder()).list()
        if json {
            try JSONOutput.print(records)
        } else {
            for record in records {
                let time = record.setAt?.iso8601Day
                var cells = [record.name, place(of: record), time.map { "set \($0)" } ?? ""].filter { !$0.isEmpty }
                if record.isHidden { cells.append("not used: another secret of this name takes precedence") }
                if let problem = record.problem { cells.append("can't be used: \(problem)") }
                Terminal.print(TerminalNames.row(cells))
            }
            if records.isEmpty {
                Terminal.say("no secrets are set; `pipectl secrets set NAME` reads one from standard input")
            }
        }
        for problem in problems { Terminal.say("pipectl: \(TerminalNames.clean(problem))") }
        let bad = records.count { $0.problem != nil } + problems.count
        if bad > 0 { throw CommandEnd(code: 3, message: "\(Count.text(bad, "secret")) can't be used") }
    }

    private func place(of record: SecretRecord) -> String {
        switch record.source {
        case .systemd: "systemd credential"
        case .folder: record.repository.map { "repository \($0)" } ?? "all repositories"
        case .keychain: "keychain"
        }
    }
}
