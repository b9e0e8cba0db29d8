import Reports
import Results
import BuildBox
import Foundation

/// Waits for a run while showing it, and ends the command with its verdict.
struct Following {
    let access: BoxAccess
    let state: StateFolder

    /// Follows the run to its end; an own box does the work meanwhile.
    func follow(_ id: RunID) async throws -> Verdict {
        let outcome = VerdictBox()
        if case .own(let box) = access {
            await box.startOnly([id])
            // Others may ask this process what it does while it holds the state.
            async let serving: Void = box.serve()
            try await show(id, outcome)
            await box.drain()
            try await serving
        } else {
            try await show(id, outcome)
        }
        guard let verdict = await outcome.verdict else {
            throw CommandEnd(
                code: 8,
                message: "run \(id) goes on, but the daemon is gone; `pipectl show \(id)` tells when it has ended")
        }
        return verdict
    }

    private func show(_ id: RunID, _ outcome: VerdictBox) async throws {
        let view = RunView()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await view.animate() }
            try await access.ask(.follow(id)) { reply in
                guard case .progress(let progress) = reply else { return }
                await view.take(progress)
                if case .ended(let verdict, _) = progress { await outcome.set(verdict) }
            }
            group.cancelAll()
        }
    }

    /// Prints the report and ends with the verdict's exit code.
    func conclude(_ id: RunID, _ verdict: Verdict, json: Bool) async throws {
        let held = verdict == .needsApproval ? try? await Self.held(id, access) : nil
        let known = if case .own(let box) = access { await box.archivedReport(of: id) } else { Report?.none }
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
        if verdict.exitCode != 0 { throw CommandEnd(code: verdict.exitCode, message: nil) }
    }

    /// The report of a run that waits for a person; nil if it does not, or no more.
    static func held(_ id: RunID, _ access: BoxAccess) async throws -> Report? {
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
    private(set) var verdict: Verdict?
    func set(_ verdict: Verdict) { self.verdict = verdict }
}
