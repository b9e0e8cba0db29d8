package import Archive
import Store
import Engine
import Foundation
package import Reports
package import Results
package import StateFiles
import StepLogs

/// Reads a finished run for rendering: its report, tests and logs. They come from the archive, or from the index as
/// long as the run waits for its export.
package struct ReportLoader {
    /// The archive that it reads.
    package let store: ArchiveStore

    package init(_ state: StateFolder) throws {
        try state.create()
        store = try ArchiveStore(home: state.path, queue: Store.Index.reader(path: state.index))
    }

    /// - Parameter known: The report, if this process has just written it, because decoding a large report takes a
    ///   while.
    package func document(_ id: RunID, known: Report? = nil) async throws -> ReportDocument {
        let report = if let known { known } else { try await store.report(id) }
        let tests = try await store.tests(id)
        var logs: [String: ReportLog] = [:]
        for attempt in report.steps.flatMap(\.attempts) {
            guard let name = attempt.log?.file else { continue }
            logs[name] = try? await log(id, name)
        }
        return ReportDocument(report: report, tests: tests) { [logs] in logs[$0] }
    }

    /// The log `file` of a run, with the times of its lines.
    package func log(_ id: RunID, _ file: String) async throws -> ReportLog {
        let bytes = try await store.log(id, file)
        let times = LogTimes((try? await store.log(id, file + ".times")) ?? [])
        return ReportLog(bytes: bytes) { times.milliseconds(at: $0) }
    }
}
