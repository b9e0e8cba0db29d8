import Watching
import Running
import Preparing
import Control
import Store
import Archive
import Engine
import Git
import Pipeline
import WorkflowPrograms
import Results
import Store

/// Starts fixes of failed runs on request.
struct FixRequests: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let queue: RunQueue
    let fixes: FixCoordinator
    let definitions: WorkflowDefinitions

    /// Starts the fix, or finds the live one; replies with notes and with the result.
    func fix(_ id: RunID, _ reply: @escaping @Sendable (FixProgress) async throws -> Void) async throws {
        let (attempt, running) = try await begin(id)
        if let running { try await reply(.note("run \(running.run), \(running.role.inWords), is still running")) }
        try await follow(id, from: attempt, reply)
    }

    /// Starts a fix, or finds the one that goes on.
    ///
    /// - Parameter person: Who asks, where the fixer's report is to name them.
    /// - Returns: The number of the attempt, and the part of it that goes on already.
    func begin(_ id: RunID, by person: String? = nil) async throws -> (attempt: Int, running: FixSequence.Part?) {
        guard let failed = try await index.run(id) else { throw RequestError.unknownRun(id) }
        try Self.check(failed)
        if await queue.scheduler.isRestricted { await queue.scheduler.startOnly([id]) }
        let report = try await store.report(id)
        let parts = try await FixSequence.parts(of: id, index, store)
        guard let last = parts.last, last.verdict == nil else {
            if let why = try await FixSequence.whyOutdated(failed, index) {
                throw RequestError(.usage, "run \(id) is out of date: \(why)")
            }
            let fix = try await declaredFix(report, failed.request)
            let attempt = (parts.map(\.role.attempt).max() ?? 0) + 1
            let role = FixRole(
                of: id, attempt: attempt, last: attempt + fix.attempts - 1, mayPush: fix.push == .ownBranch)
            var request = RunRequest.fixing(failed.request, role)
            request.options.askedBy = person
            _ = try await queue.begin(request)
            try await index.setFixDue(id)
            await fixes.settle()
            return (attempt, nil)
        }
        return (last.role.attempt, last)
    }

    /// - Throws: ``RequestError`` for a run that can't be fixed.
    private static func check(_ run: IndexedRun) throws {
        let id = run.id
        if let role = run.request.fix {
            throw RequestError(.usage, "run \(id) is itself \(role.inWords); `pipectl fix \(role.of)` tries again")
        }
        guard run.request.change != nil else {
            throw RequestError(.usage, "run \(id) does not belong to a change; only changes can be fixed")
        }
        guard run.summary.isArchived, run.summary.verdict == .failed else {
            let verdict = run.summary.verdict?.title ?? run.summary.state.rawValue
            throw RequestError(.usage, "run \(id) is \(verdict); only failed runs can be fixed")
        }
    }

    /// - Parameter attempt: The first attempt that this is about; the results of earlier ones are known.
    private func follow(
        _ id: RunID, from attempt: Int, _ reply: @escaping @Sendable (FixProgress) async throws -> Void
    ) async throws {
        var said: Set<String> = []
        while true {
            try Task.checkCancellation()
            let seen = queue.board.changes
            for part in try await FixSequence.parts(of: id, index, store) where part.role.attempt >= attempt {
                let words =
                    "run \(part.run), \(part.role.inWords): "
                    + (part.verdict.map { "\($0.title), \(part.reason)" } ?? "begins")
                if said.insert(words).inserted { try await reply(.note(words)) }
            }
            if let series = try await store.report(id).fixes, series.state != .working,
                series.attempts.contains(where: { $0.number >= attempt })
            {
                return try await reply(.ended(series))
            }
            await queue.board.waitForChange(of: id, since: seen, atMost: .milliseconds(500))
        }
    }

    /// The fixer that the run's definition declares.
    private func declaredFix(_ report: Report, _ request: RunRequest) async throws -> Fix {
        guard let definition = report.definition, let commit = OID(hex: definition.commit),
            let tree = OID(hex: definition.tree)
        else { throw RequestError(.usage, "run \(report.id) has no definition that could declare a fixer") }
        let repository = try await definitions.repositories.repository(named: report.repository)
        let program = try await definitions.program(at: commit, tree: tree, repository)
        let declaration = try program.declaration(of: request.workflow)
        guard let fix = declaration.fix else {
            throw RequestError(
                .usage,
                "workflow \"\(request.workflow)\" declares no fixer; write .onFailure(Fix(by: \"…\")) in the target's "
                    + "workflows/")
        }
        return fix
    }
}
