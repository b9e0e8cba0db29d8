import Control
import Store
import Archive
import Results
import Foundation
import Git
import Pipeline
import WorkflowPrograms

/// A person's wish that a run be mended.
extension Box {
    /// Has a failed run mended because somebody asks for it; replies with notes, and with what it came to.
    func fix(_ id: RunID, _ reply: @escaping @Sendable (FixProgress) async throws -> Void) async throws {
        guard let failed = try await index.run(id) else {
            throw RequestError.unknownRun(id)
        }
        if let role = failed.request.fix {
            throw RequestError(.usage, "run \(id) is itself \(role.inWords); `pipectl fix \(role.of)` tries again")
        }
        guard failed.request.change != nil else {
            throw RequestError(.usage, "run \(id) does not belong to a change; only changes can be fixed")
        }
        guard failed.summary.isArchived, failed.summary.verdict == .failed else {
            let verdict = failed.summary.verdict?.title ?? failed.summary.state.rawValue
            throw RequestError(.usage, "run \(id) is \(verdict); only failed runs can be fixed")
        }
        if await scheduler.isRestricted { await startOnly([id]) }
        let report = try await store.report(id)
        let parts = try await fixParts(of: id)
        guard let last = parts.last, last.verdict == nil else {
            if let why = try await whyOutdated(failed) {
                throw RequestError(.usage, "run \(id) is out of date: \(why)")
            }
            let fix = try await declaredFix(report, failed.request)
            let attempt = (parts.map(\.role.attempt).max() ?? 0) + 1
            let role = FixRole(
                of: id, attempt: attempt, last: attempt + fix.attempts - 1, mayPush: fix.push == .ownBranch)
            try await begin(.fixing(failed.request, role))
            try await index.setFixDue(id)
            await settleFixes()
            return try await followFix(of: id, from: attempt, reply)
        }
        try await reply(.note("run \(last.run), \(last.role.inWords), is still running"))
        try await followFix(of: id, from: last.role.attempt, reply)
    }

    /// - Parameter attempt: The first one that this is about: what came of those before it is known.
    private func followFix(
        of id: RunID, from attempt: Int, _ reply: @escaping @Sendable (FixProgress) async throws -> Void
    ) async throws {
        var said: Set<String> = []
        while true {
            try Task.checkCancellation()
            let seen = board.changes
            for part in try await fixParts(of: id) where part.role.attempt >= attempt {
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
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.board.waitForChange(of: id, since: seen) }
                group.addTask { try? await Task.sleep(for: .milliseconds(500)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// The fixer that the definition names by which the run was made.
    private func declaredFix(_ report: Report, _ request: RunRequest) async throws -> Fix {
        guard let definition = report.definition, let commit = OID(hex: definition.commit),
            let tree = OID(hex: definition.tree)
        else { throw RequestError(.usage, "run \(report.id) has no definition that could declare a fixer") }
        let repository = try await repository(named: report.repository)
        let program = try await RunPreparation.program(at: commit, tree: tree, repository, programs())
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
