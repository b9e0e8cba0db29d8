import Client
import Control
import Foundation
import Reports
import Results
import StateFiles
import UnixSignals

/// Waits for a run while showing it, and ends the command with the run's verdict.
struct Following {
    let access: DaemonAccess
    let state: StateFolder

    /// How a followed run ended.
    struct Ending: Sendable {
        var verdict: Verdict
        /// Whether the user interrupted the command, so that it cancelled the run.
        var isInterrupted: Bool
    }

    /// Follows the run to its end. Without another daemon, this process runs it.
    ///
    /// SIGINT and SIGTERM cancel the run, whichever process runs it; a second signal ends this process at once.
    func follow(_ id: RunID) async throws -> Ending {
        let outcome = VerdictBox()
        if case .own(let daemon) = access {
            await daemon.startOnly([id])
            // Other commands may send requests to this process while it owns the state.
            async let serving: Void = daemon.serve()
            try await show(id, outcome)
            await daemon.drain()
            try await serving
        } else {
            try await show(id, outcome)
        }
        guard let ending = await outcome.ending else {
            throw CommandEnd(
                code: 8,
                message: "lost the connection to the daemon; run \(id) may still be running: `pipectl show \(id)`")
        }
        return ending
    }

    private func show(_ id: RunID, _ outcome: VerdictBox) async throws {
        let view = RunView()
        try await QuietTerminal.during(view.isLive) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await view.animate() }
                group.addTask { await cancelWhenInterrupted(id, outcome, view) }
                try await access.ask(.follow(id)) { reply in
                    guard case .progress(let progress) = reply else { return }
                    await view.take(progress)
                    if case .ended(let verdict, _) = progress { await outcome.set(verdict) }
                }
                group.cancelAll()
            }
        }
    }

    private func cancelWhenInterrupted(_ id: RunID, _ outcome: VerdictBox, _ view: RunView) async {
        await withTaskGroup(of: Void.self) { group in
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                guard await outcome.interrupt() else { Foundation.exit(130) }
                await view.say("interrupted: run \(id) is being cancelled; a second signal ends this command at once")
                group.addTask {
                    do {
                        try await access.ask(.cancel(id, reason: "the command that started it was interrupted")) { _ in
                        }
                    } catch {
                        await view.say("can't cancel run \(id): \(error); `pipectl cancel \(id)` tries again")
                    }
                }
            }
            group.cancelAll()
        }
    }

    /// Prints the report and ends with the verdict's exit code, or with 130 after an interruption.
    func conclude(_ id: RunID, _ ending: Ending, json: Bool) async throws {
        let verdict = ending.verdict
        let held = verdict == .needsApproval ? try? await Self.held(id, access) : nil
        let known = if case .own(let daemon) = access { await daemon.archivedReport(of: id) } else { Report?.none }
        await access.close()
        let document =
            if let held { ReportDocument(report: held) } else {
                try? await ReportLoader(state).document(id, known: known)
            }
        if let document {
            let options = RenderOptions(colour: Terminal.hasColour, width: Terminal.width)
            Terminal.put(document.render(json ? .json : .text, options: options))
        } else {
            Terminal.print("run \(id): \(verdict.title)")
        }
        if ending.isInterrupted, verdict == .cancelled { throw CommandEnd(code: 130, message: nil) }
        if verdict.exitCode != 0 { throw CommandEnd(code: verdict.exitCode, message: nil) }
    }

    /// The report of a run that waits for approval; nil if it does not wait.
    static func held(_ id: RunID, _ access: DaemonAccess) async throws -> Report? {
        let found = HeldReport()
        try await access.ask(.run(id)) { reply in
            if case .run(let detail) = reply { await found.set(detail.held) }
        }
        return await found.report
    }
}

private actor HeldReport {
    private(set) var report: Report?
    func set(_ report: Report?) { self.report = report }
}

private actor VerdictBox {
    private var verdict: Verdict?
    private var isInterrupted = false

    var ending: Following.Ending? { verdict.map { .init(verdict: $0, isInterrupted: isInterrupted) } }

    func set(_ verdict: Verdict) { self.verdict = verdict }

    /// Whether this is the first interruption.
    func interrupt() -> Bool {
        defer { isInterrupted = true }
        return !isInterrupted
    }
}
