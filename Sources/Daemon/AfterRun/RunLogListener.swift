import Concurrency
import DaemonLog
import Foundation
import Logging
import Results
import Running
import SystemPackage
import TerminalText

/// Appends a line about each run that ends to a file for other programs.
///
/// The file is opened for each line, so that it may be moved away at any time: the next line then begins a new file.
actor RunLogListener: RunListener {
    let path: String
    let log: Logger
    nonisolated let name = "run log"
    /// Whether the last line could not be written.
    private var isFailing = false

    init(path: String, log: Logger) { (self.path, self.log) = (path, log) }

    nonisolated func wants(_ event: DaemonEvent) -> Bool { Self.line(event) != nil }

    func receive(_ event: DaemonEvent) async {
        guard let line = Self.line(event) else { return }
        do {
            try await offThread { [path] in try Self.append(line, to: path) }
            isFailing = false
        } catch {
            // Logged once, because every run that ends meanwhile fails in the same way.
            guard !isFailing else { return }
            isFailing = true
            log.warning(
                "the run log can't be written to \"\(path)\": \(error). It lacks the runs that end until that is possible: check the folder, its owner and its disk.",
                metadata: .code(.runLogFailed))
        }
    }

    func missed(_ count: Int) async {
        log.warning(
            "\(count) runs are not in the run log: they end faster than \"\(path)\" can be written",
            metadata: .code(.eventsMissed))
    }

    /// The line about a run that has ended, with its line feed; nil for other events.
    static func line(_ event: DaemonEvent) -> String? {
        switch event {
        case .recorded(let run): line(run.report, run.request)
        case .unstarted(let report, let request): line(report, request)
        case .step, .snapshotMissed, .ended: nil
        }
    }

    private static func line(_ report: Report, _ request: RunRequest) -> String {
        let seconds = report.startedAt.map { max(report.endedAt.timeIntervalSince($0), 0) } ?? 0
        let fields = [
            "\(report.id)", report.repository, report.workflow, request.subjectInWords, report.verdict.rawValue,
            "\((seconds * 1_000).rounded() / 1_000)",
        ]
        // Branches and changes name themselves: no name may end a field or a line.
        return fields.map { TerminalText.name($0, limit: 1_000) }.joined(separator: "\t") + "\n"
    }

    /// Blocks for as long as the disk does, but never for the reader of a pipe: only a file has an end to seek.
    private static func append(_ line: String, to path: String) throws {
        let file = try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.append, .create, .nonBlocking, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
        try file.closeAfter {
            let size = try file.seek(offset: 0, from: .end)
            var last = UInt8(ascii: "\n")
            if size > 0 {
                _ = try withUnsafeMutableBytes(of: &last) { try file.read(fromAbsoluteOffset: size - 1, into: $0) }
            }
            // A full disk may have cut the last line off.
            try file.writeAll((last == UInt8(ascii: "\n") ? line : "\n" + line).utf8)
        }
    }
}
