import ArgumentParser
import Client
import Control
import Foundation
import Results
import TerminalText

struct ReleaseNotesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes", abstract: "Prints the notes of a release, or replaces them before it is published.")

    @OptionGroup var release: ReleaseOption
    @Option(help: ArgumentHelp("The new notes in Markdown; - is standard input.", valueName: "path"))
    var file: String?

    func run() async throws {
        guard let file else {
            let notes = try await release.detail().release.notes
            return Terminal.put(Terminal.outputIsTerminal ? TerminalText.lines(notes) : notes)
        }
        // Foundation has nil for an input without a byte.
        guard
            let bytes = file == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : FileManager.default.contents(atPath: file)
        else { throw CommandEnd(code: 2, message: "\(file) can't be read; name a file, or - for standard input") }
        guard let notes = String(validating: bytes, as: UTF8.self) else {
            throw CommandEnd(code: 2, message: "the notes are not UTF-8; save them as UTF-8")
        }
        try await release.state.act(.setReleaseNotes(release.subject, notes: notes), "release notes")
    }
}
