import BuildBox
import Client
import Control
import Foundation
import TerminalText

/// Shows on standard error how far a wait is: a few lines that are drawn again on a terminal, else a line for each
/// thing that happens.
actor WaitView {
    let isLive: Bool
    private var state: WaitState?
    private var said: Set<String> = []
    private var drawnRows = 0
    /// ``QuietTerminal/continuations`` when it was drawn last.
    private var continuations = 0

    init() {
        isLive = Terminal.errorIsTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    func take(_ event: VerdictClient.Event) {
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

    /// Counts the time down until cancelled.
    func animate() async {
        guard isLive else { return }
        while !Task.isCancelled {
            do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
            draw()
        }
    }

    /// Takes the drawn lines away, so that what follows stands alone.
    func clear() {
        leaveStopped()
        guard isLive, drawnRows > 0 else { return }
        Terminal.write("\u{1b}[\(drawnRows)A\u{1b}[J", to: 2)
        drawnRows = 0
    }

    /// After a stop the lines begin anew below what others wrote meanwhile.
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
