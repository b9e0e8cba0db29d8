public import Archive
public import Engine
public import Foundation

/// What can be said of a run in which a step has failed and others go on; nothing of it is archived.
public struct EarlyReport: Sendable, Codable {
    /// The most that is taken of one log, from its end.
    static let logBytes = 256 << 10

    public var report: Report
    /// The tests that failed so far.
    public var tests: [TestResult]
    /// The ends of the logs of failed steps, by the names in the report.
    public var logs: [String: Data]

    /// Ready to render.
    public var document: ReportDocument {
        ReportDocument(report: report, tests: tests) { [logs] name in logs[name].map { ReportLog(bytes: [UInt8]($0)) } }
    }

    static func tail(of path: String) -> Data {
        guard let file = FileHandle(forReadingAtPath: path) else { return Data() }
        defer { try? file.close() }
        let end = (try? file.seekToEnd()) ?? 0
        try? file.seek(toOffset: end > UInt64(logBytes) ? end - UInt64(logBytes) : 0)
        return (try? file.read(upToCount: logBytes)) ?? Data()
    }
}
