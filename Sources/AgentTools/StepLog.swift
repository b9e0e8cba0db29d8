import Archive
import Client
import Control
import Foundation
import MCP
import Results
import TerminalText

/// The output of one attempt of a step, from the archive or while it grows; at most as large as the daemon's log limit.
struct StepLog: Sendable {
    /// Maximum number of bytes that are read from a growing log.
    private static let most = 64 << 20

    var step: String
    var status: StepStatus
    var attempt: Int
    /// The output as bytes, with secrets masked. It need not be UTF-8.
    var bytes: [UInt8]

    /// - Parameters:
    ///   - step: Nil for the most relevant step: the first that failed, else the one that runs, else the
    ///     last.
    ///   - attempt: Nil for the last one.
    static func read(_ id: RunID, step: String?, attempt: Int?, _ toolbox: Toolbox) async throws -> StepLog {
        let detail = try await detail(id, toolbox)
        if detail.summary.isArchived { return try await archived(id, step, attempt, toolbox) }
        guard let live = detail.live else {
            throw ToolFailure(
                "run \(id) is \(detail.summary.verdict?.title ?? detail.summary.state.rawValue) and has no logs; wait_for_verdict waits for it."
            )
        }
        let record = try choose(live.steps.map { ($0.record, $0.attempt > 0) }, step, id)
        guard let index = live.steps.firstIndex(where: { $0.id == record.name }), live.steps[index].attempt > 0 else {
            throw ToolFailure("step \"\(record.name)\" of run \(id) has not begun.")
        }
        let number = attempt ?? live.steps[index].attempt
        let path = "\(live.logs)/\(AttemptRecord.logName(step: index + 1, attempt: number))"
        let bytes = contents(of: path)
        // Without a file it has printed nothing, or the run has ended since the first look.
        if bytes == nil, try await self.detail(id, toolbox).summary.isArchived {
            return try await archived(id, step, attempt, toolbox)
        }
        return StepLog(step: record.name, status: record.status, attempt: number, bytes: bytes ?? [])
    }

    private static func detail(_ id: RunID, _ toolbox: Toolbox) async throws -> RunDetail {
        try await toolbox.ask(.run(id)) { if case .run(let detail) = $0 { detail } else { nil } }
    }

    private static func archived(
        _ id: RunID, _ step: String?, _ attempt: Int?, _ toolbox: Toolbox
    ) async throws -> StepLog {
        let loader = try ReportLoader(toolbox.state)
        let report = try await loader.store.report(id)
        let record = try choose(report.steps.map { ($0, false) }, step, id)
        guard let tried = record.attempts.first(where: { $0.number == attempt }) ?? record.attempts.last,
            let log = tried.log
        else { throw ToolFailure("step \"\(record.name)\" of run \(id) printed nothing: it was not run.") }
        return StepLog(
            step: record.name, status: record.status, attempt: tried.number,
            bytes: try await loader.store.log(id, log.file))
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return ((try? file.read(upToCount: most)) ?? nil).map { [UInt8]($0) } ?? []
    }

    private static func choose(
        _ steps: [(record: StepRecord, hasBegun: Bool)], _ name: String?, _ id: RunID
    ) throws -> StepRecord {
        if let name {
            if let found = steps.first(where: { $0.record.name == name }) { return found.record }
            let names = steps.map(\.record.name).prefix(50).joined(separator: ", ")
            throw ToolFailure("run \(id) has no step \"\(name)\"; it has \(names).")
        }
        let chosen =
            steps.first { $0.record.status.isFailure } ?? steps.first { $0.record.status == .running }
            ?? steps.last { !$0.record.attempts.isEmpty || $0.hasBegun } ?? steps.first
        guard let chosen else { throw ToolFailure("run \(id) has no steps.") }
        return chosen.record
    }

    /// The lines of the log, cleaned so that they are safe to show.
    var lines: [Substring] {
        var lines = TerminalText.clean(bytes, colours: false, lineLimit: 2_000)
            .split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
