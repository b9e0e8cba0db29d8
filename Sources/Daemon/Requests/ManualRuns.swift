import Watching
import Running
import Control
import Engine
import Foundation
import Results
import Store

/// Starts runs by hand: new ones and repetitions.
struct ManualRuns: Sendable {
    let index: Store.Index
    let requests: RunRequestMaker
    let planner: RunPlanner
    let queue: RunQueue
    let fixes: FixCoordinator

    /// Accepts a run by hand.
    ///
    /// - Parameter person: Who asks, where the report is to name them.
    func start(_ start: StartRequest, by person: String? = nil) async throws -> EnqueueOutcome {
        var (request, repository) = try await requests.request(start)
        request.options.askedBy = person
        try await planner.checkLimits(of: request, in: repository)
        try await planner.checkParts(of: request, in: repository)
        return try await accept(request)
    }

    /// Cancels a run, queued or running.
    func cancel(_ id: RunID, reason: String) async throws -> CompletedAction {
        let result = try await queue.cancel(id, reason: reason)
        // It may have been part of a fix.
        if result == .beforeStart { await fixes.settle() }
        return .cancelled(id, result)
    }

    private func accept(_ request: RunRequest) async throws -> EnqueueOutcome {
        let outcome = try await queue.accept(request)
        // A superseded run may have been part of a fix.
        if !outcome.superseded.isEmpty { await fixes.settle() }
        return outcome
    }

    /// Repeats a run.
    ///
    /// - Parameters:
    ///   - key: Names the order: however often it is carried out, it starts one run of each.
    ///   - person: Who asks, where the report is to name them.
    func rerun(_ wanted: RerunRequest, key: String? = nil, by person: String? = nil) async throws -> EnqueueOutcome {
        let id = wanted.run
        let purpose = key.map { "for \($0)" } ?? "at \(Date().timeIntervalSince1970)"
        guard let run = try await index.run(id) else { throw RequestError.unknownRun(id) }
        guard run.summary.state == .ended else {
            throw RequestError(.usage, "run \(id) has not ended; cancel it with `pipectl cancel \(id)`, then rerun it")
        }
        var request = run.request
        if let role = request.fix, role.isMaking {
            throw RequestError(.usage, "run \(id) is \(role.inWords); `pipectl fix \(role.of)` tries again")
        }
        request.options.isForAgent = wanted.isForAgent
        request.options.askedBy = person
        request.options.refusesProofs = !wanted.usesProofs
        request.options.isClean = wanted.isClean
        let origin = run.request.rerun?.origin ?? id
        var rerun = RunKind.Rerun(of: id, origin: origin, number: try await index.repetitions(of: origin) + 2)
        request.nonce = "rerun of \(id) \(purpose)"
        if wanted.failedOnly {
            let failed = run.steps.filter { $0.status != .passed && $0.status != .skipped }.map(\.name)
            guard !failed.isEmpty else {
                throw RequestError(.usage, "no step of run \(id) failed; leave out --failed to repeat it whole")
            }
            if wanted.isClean || !wanted.steps.isEmpty {
                request.onlySteps = failed
            } else {
                // The same plan: passed steps are carried over with the workspace, and skipped ones run.
                rerun.resumes = true
            }
        }
        if !wanted.steps.isEmpty { request.onlySteps = wanted.steps }
        request.kind = .rerun(rerun)
        if wanted.isForAgent || !wanted.steps.isEmpty {
            let repository = try await planner.repositories.repository(named: request.repository)
            if !wanted.steps.isEmpty { try await planner.checkParts(of: request, in: repository) }
            try await planner.checkLimits(of: request, in: repository, earlier: run.summary.trust)
        }
        return try await accept(request)
    }
}
