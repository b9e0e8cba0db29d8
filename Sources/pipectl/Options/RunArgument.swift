import ArgumentParser
import Client
import Control
import Foundation
import Git
import StateFiles
import TerminalText

/// A run as the command line names it; ``StateOptions/resolve(_:)`` finds its number.
struct RunArgument: ExpressibleByArgument, CustomStringConvertible, Sendable {
    static let help: ArgumentHelp = "A run: its number, last, #7 for a change, a branch, a tag or a commit."

    let text: String
    /// 0 until it is resolved.
    fileprivate(set) var id: Int64

    init?(argument: String) {
        guard let reference = RunReference(argument) else { return nil }
        text = argument
        id = if case .number(let id) = reference { id } else { 0 }
    }

    var description: String { id > 0 ? "\(id)" : text }
}

extension StateOptions {
    /// Finds the run's number. The repository in the current folder is searched first.
    func resolve(_ run: inout RunArgument) async throws {
        guard run.id == 0, let reference = RunReference(run.text) else { return }
        let question = RunQuestion(reference, locations: await RunSubject.places(of: "."))
        run.id = try await ask(.find(question), "look for a run") { if case .found(let id) = $0 { id } else { nil } }
        // The user gave a name, so show which run it is.
        Terminal.say("\(TerminalText.name(run.text)) is run \(run.id)")
    }
}
