import Control
import Foundation
import TerminalText

/// Shows the progress of a wait on standard error: a few lines that are redrawn on a terminal, otherwise a line for
/// each event.
package actor WaitView {
    package let isLive: Bool
    private var state: WaitState?
    private var said: Set<String> = []
    private var drawnRows = 0
    /// The value of ``QuietTerminal/continuations`` at the last drawing.
    private var continuations = 0

    package init() {
        isLive = Terminal.errorIsTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    package func take(_ event: VerdictClient.Event) {
        switch event {
        case .state(let newer):
            for note in newer.notes where said.insert(note).inserted { line(note) }
            state = newer
            if isLive { draw() } else { sayWhatIsNew(newer) }
        case .away(let why):
            line("no verdict yet; waiting for the daemon. \(why)")
        case .back: line("the daemon is running again")
        }
    }

    /// Updates the elapsed time until it is cancelled.
    package func animate() async {
        guard isLive else { return }
        while !Task.isCancelled {
            do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
            draw()
        }
    }

    /// Removes the drawn lines.
    package func clear() {
        leaveStopped()
        guard isLive, drawnRows > 0 else { return }
        Terminal.write("\u{1b}[\(drawnRows)A\u{1b}[J", to: 2)
        drawnRows = 0
    }

    /// After a stop the lines start again, below the output of other programs.
    private func leaveStopped() {
        guard continuations != QuietTerminal.continuations else { return }
        continuations = QuietTerminal.continuations
        drawnRows = 0
    }

    private func line(_ text: String) {
        clear()
        Terminal.say(TerminalText.name(text, limit: 1_000))
    }

    private func sayWhatIsNew(_ state: WaitState) {
        for text in state.lines(at: Date(), countsDown: false) where said.insert(text).inserted { line(text) }
    }

    private func draw() {
        guard isLive, let state else { return }
        leaveStopped()
        let width = max(Terminal.width - 1, 20)
        let lines = state.lines(at: Date(), countsDown: true)
        var text = drawnRows > 0 ? "\u{1b}[\(drawnRows)A" : ""
        for line in lines { text += "\r\u{1b}[K" + String(TerminalText.name(line, limit: 1_000).prefix(width)) + "\n" }
        text += "\u{1b}[J"
        drawnRows = lines.count
        Terminal.write(text, to: 2)
    }
}
