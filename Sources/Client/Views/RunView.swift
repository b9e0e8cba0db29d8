package import Control
import Foundation
import Reports
package import Results
import TerminalText

/// Shows a live run: a tree that is redrawn on a terminal, otherwise one line for each event.
package actor RunView {
    package let isLive: Bool
    private let colour: Bool
    private var latest: LiveRun?
    private var said = Said()
    private var drawnRows = 0
    /// The value of ``QuietTerminal/continuations`` at the last drawing.
    private var continuations = 0
    /// Lines that are not written yet: one state of a long run may bring many.
    private var pending = ""
    private var ticks = 0

    /// What permanent lines have said already.
    private struct Said {
        var statuses: [String: StepStatus] = [:]
        /// Steps whose log was quoted.
        var excerpts: Set<String> = []
        /// Steps whose question was asked.
        var questions: Set<String> = []
        var phase = ""
    }

    package init() {
        isLive = Terminal.errorIsTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        colour = Terminal.errorHasColour
    }

    /// Takes the newest state. States between two calls are not shown.
    package func take(_ progress: RunProgress) {
        defer { flush() }
        switch progress {
        case .queued(let behind):
            if behind > 0 { line("queued behind \(behind) run\(behind == 1 ? "" : "s")") }
        case .live(let run):
            if latest == nil {
                line("run \(run.id): \(run.workflow), \(TerminalText.name(run.subject))")
                if let page = run.page { line("  \(TerminalText.name(page))") }
            }
            latest = run
            for step in run.steps { note(step, run) }
            if run.progress != said.phase && !isLive && (run.steps.isEmpty || run.waitsFor != nil) {
                line("  \(TerminalText.name(run.progress, limit: 1_000))")
            }
            said.phase = run.progress
            draw()
        case .ended(let verdict, let reason):
            clear()
            // The run may continue much later. The command that waits prints the reason and the next step.
            if verdict == .needsApproval { line("needs approval: \(TerminalText.name(reason, limit: 1_000))") }
        }
    }

    /// Redraws elapsed times until it is cancelled; does nothing without a terminal.
    package func animate() async {
        guard isLive else { return }
        while !Task.isCancelled {
            do { try await Task.sleep(for: .milliseconds(120)) } catch { break }
            ticks += 1
            draw()
        }
    }

    /// Prints a permanent line above the tree. Writing to the terminal directly would leave a row of the tree behind.
    package func say(_ text: String) {
        line(text)
        draw()
        flush()
    }

    /// Adds a permanent line above the tree.
    private func line(_ text: String) { pending += text + "\n" }

    private func flush() {
        guard !pending.isEmpty else { return }
        clear()
        Terminal.write(pending, to: 2)
        pending = ""
    }

    private func note(_ step: LiveRun.Step, _ run: LiveRun) {
        let name = step.record.name
        if step.awaitsApproval, said.questions.insert(name).inserted {
            // A terminal shows it in the tree.
            if !isLive { line("  ? \(name) \(TerminalText.name(step.waitsFor ?? "", limit: 400))") }
            line("    Ctrl-C cancels the run; one that was started with --detach waits in the daemon")
        }
        let before = said.statuses[name] ?? .waiting
        let status = step.record.status
        guard status != before else { return }
        said.statuses[name] = status
        if status == .running {
            if !isLive {
                line(
                    "  \(StatusMark.text(.running, colour)) \(name)"
                        + (step.attempt > 1 ? " (attempt \(step.attempt))" : ""))
            }
            return
        }
        guard status.isFinal else { return }
        if !isLive || status.isFailure {
            line(
                "  \(StatusMark.text(status, colour)) \(name)\(duration(step))\(step.record.reason.map { ": \(TerminalText.name($0))" } ?? "")"
            )
        }
        if status.isFailure, said.excerpts.insert(name).inserted, let log = step.record.attempts.last?.log {
            let path = "\(run.logs)/\(log.file)"
            for text in LogTail.lines(of: path, count: 12) { line("      \(text)") }
        }
    }

    private func duration(_ step: LiveRun.Step) -> String {
        if let proof = step.record.provedBy { return "  proved by run \(proof.run)" }
        if let earlier = step.record.carriedFrom { return "  passed in run \(earlier.run)" }
        return step.record.duration.map { "  \(Figures.duration($0))" } ?? ""
    }

    private func clear() {
        leaveStopped()
        guard isLive, drawnRows > 0 else { return }
        Terminal.write("\u{1b}[\(drawnRows)A\u{1b}[J", to: 2)
        drawnRows = 0
    }

    /// After a stop the view starts again, below the output of other programs.
    private func leaveStopped() {
        guard continuations != QuietTerminal.continuations else { return }
        continuations = QuietTerminal.continuations
        drawnRows = 0
    }

    private func draw() {
        flush()
        leaveStopped()
        guard isLive, let run = latest else { return }
        let (columns, rows) = Terminal.size
        var lines: [String] = []
        if run.steps.isEmpty { lines.append("  \(spinner) \(run.progress)") }
        // If there are more steps than rows, show running ones first, then waiting ones, then ended ones.
        let ranked = run.steps.enumerated().sorted { one, other in
            (rank(one.element), one.offset) < (rank(other.element), other.offset)
        }
        let room = max(rows - 3, 3)
        let kept = Set(ranked.prefix(room).map(\.offset))
        for (index, step) in run.steps.enumerated() where kept.contains(index) { lines.append(row(step, columns)) }
        if run.steps.count > room { lines.append("  … and \(run.steps.count - room) more steps") }
        var text = drawnRows > 0 ? "\u{1b}[\(drawnRows)A" : ""
        for line in lines { text += "\r\u{1b}[K" + line + "\n" }
        text += "\u{1b}[J"
        drawnRows = lines.count
        Terminal.write(text, to: 2)
    }

    private func rank(_ step: LiveRun.Step) -> Int {
        switch step.record.status {
        case .running: 0
        case .failed, .timedOut, .infrastructure: 1
        case .waiting: 2
        default: 3
        }
    }

    private func row(_ step: LiveRun.Step, _ columns: Int) -> String {
        let status = step.record.status
        let symbol = Wording.symbol(Verdict.needsApproval)
        let question = colour ? "\u{1b}[\(Wording.colour(Verdict.needsApproval))m\(symbol)\u{1b}[0m" : symbol
        let mark =
            step.awaitsApproval ? question : status == .running ? spinner : StatusMark.text(status, colour)
        var facts = ""
        switch status {
        case .running:
            if let start = step.startedAt {
                facts = Figures.duration(Date().timeIntervalSince(start).rounded())
            }
            if let machine = step.machine { facts += ", on \(machine)" }
            if step.attempt > 1 { facts += ", attempt \(step.attempt)" }
            if let last = step.lastLine, !last.isEmpty { facts += "  \(last)" }
        case .waiting:
            facts =
                step.waitsFor ?? (step.record.needs.isEmpty ? "" : "needs \(step.record.needs.joined(separator: ", "))")
        default:
            facts = duration(step).trimmingCharacters(in: .whitespaces)
            if let reason = step.record.reason { facts += (facts.isEmpty ? "" : "  ") + reason }
        }
        let room = max(columns - 6 - step.record.name.count, 8)
        let shownFacts = String(TerminalText.name(facts, limit: 4_000).prefix(room))
        return "  \(mark) \(step.record.name)  \(colour ? "\u{1b}[2m\(shownFacts)\u{1b}[0m" : shownFacts)"
    }

    private var spinner: String {
        let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
        let frame = frames[ticks % frames.count]
        return colour ? "\u{1b}[36m\(frame)\u{1b}[0m" : frame
    }
}

/// A state as a symbol, with a colour if there are colours. The symbol alone is sufficient.
package enum StatusMark {
    package static func text(_ status: StepStatus, _ colour: Bool) -> String {
        let sign = Wording.symbol(status)
        return colour ? "\u{1b}[\(Wording.colour(status))m\(sign)\u{1b}[0m" : sign
    }
}

/// The end of a log file, made safe for a terminal.
enum LogTail {
    static func lines(of path: String, count: Int) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        let end = (try? file.seekToEnd()) ?? 0
        try? file.seek(toOffset: end > 65_536 ? end - 65_536 : 0)
        let bytes = (try? file.readToEnd()) ?? Data()
        let text = TerminalText.clean(bytes, colours: false, lineLimit: 300)
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}
