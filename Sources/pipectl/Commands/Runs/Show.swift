import ArgumentParser
import Client
import Control
import Reports
import Results
import TerminalText

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one run: its progress, or its report.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help) var run: RunArgument
    @Flag(help: "Print JSON.") var json = false

    mutating func run() async throws {
        try await state.resolve(&run)
        let id = run.id
        let detail = try await state.ask(.run(id), "show") { if case .run(let detail) = $0 { detail } else { nil } }
        if detail.summary.isArchived {
            let document = try await ReportLoader(state.folder()).document(id)
            Terminal.put(
                document.render(
                    json ? .json : .text, options: RenderOptions(colour: Terminal.hasColour, width: Terminal.width)))
            if !json, let page = detail.page { Terminal.print("\nPage: \(TerminalText.name(page))") }
            return
        }
        if let held = detail.held {
            let options = RenderOptions(colour: Terminal.hasColour, width: Terminal.width)
            return Terminal.put(ReportDocument(report: held).render(json ? .json : .text, options: options))
        }
        if json { return try JSONOutput.print(detail) }
        Terminal.put(RunTable.text([detail.summary], colour: Terminal.hasColour))
        if let reason = detail.summary.reason { Terminal.print(TerminalText.name(reason)) }
        if let wait = detail.wait { Terminal.print(TerminalText.name(wait)) }
        if let page = detail.page { Terminal.print("Page: \(TerminalText.name(page))") }
        if let live = detail.live {
            for step in live.steps {
                let mark = StatusMark.text(step.record.status, Terminal.hasColour)
                let machine = step.machine.map { "on \($0)  " } ?? ""
                let facts = TerminalText.name(machine + (step.waitsFor ?? step.lastLine ?? ""), limit: 400)
                Terminal.print("  \(mark) \(step.record.name)  \(facts)")
            }
        }
    }
}
