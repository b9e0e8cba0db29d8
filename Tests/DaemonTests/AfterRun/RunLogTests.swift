import DaemonLog
import Foundation
import Logging
import Results
import RunSamples
import Store
import Synchronization
import TestBasics
import Testing

@testable import Daemon
@testable import Running

/// The file that gets a line about each run that ends.
@Suite(.timeLimit(.minutes(1))) struct RunLogTests {
    /// The lines of a daemon's log.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        var logger: Logger {
            Logger(label: "test") { _ in DaemonLogHandler(.json) { line in self.lines.withLock { $0.append(line) } } }
        }

        func count(_ code: LogCode) -> Int { all.filter { $0.contains("\"event\":\"\(code.rawValue)\"") }.count }
    }

    private func recorded(
        _ id: RunID, _ verdict: Verdict = .passed, _ request: RunRequest = RunSample.request()
    ) -> DaemonEvent {
        .recorded(
            RecordedRun(
                report: RunSample.report(id, request, verdict: verdict), request: request,
                repository: RunSample.nowhere))
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The numbers of the runs in the file.
    private func runs(_ path: String) throws -> [Substring] {
        try text(path).split(separator: "\n").compactMap { $0.split(separator: "\t").first }
    }

    @Test func `a run has one line with its facts, whether it started or not`() async throws {
        try await withTemporaryFolder { folder in
            let listener = RunLogListener(path: "\(folder)/runs", log: Lines().logger)
            var report = RunSample.report(4, verdict: .superseded)
            report.startedAt = nil
            let events = [recorded(3, .needsApproval), .unstarted(report, RunSample.request())]
            for event in events {
                #expect(listener.wants(event))
                await listener.receive(event)
            }
            let lines = try text("\(folder)/runs").split(separator: "\n", omittingEmptySubsequences: false)
            #expect(
                lines == [
                    "3\talpha\ttest\tchange 7 into main\tneedsApproval\t10.0",
                    "4\talpha\ttest\tchange 7 into main\tsuperseded\t0.0", "",
                ])
            // A run that is put back to wait for approval is no longer live, but has not ended.
            #expect(!listener.wants(.ended(3)))
        }
    }

    @Test func `seconds have three decimals at most, and no clock makes them negative`() {
        for (seconds, field) in [(1.0 / 3, "0.333"), (86_400.0004, "86400.0"), (-5, "0.0")] {
            var report = RunSample.report()
            report.endedAt = RunSample.start + seconds
            let line = RunLogListener.line(.unstarted(report, RunSample.request()))
            #expect(line?.hasSuffix("\t\(field)\n") == true, "\(line ?? "")")
        }
    }

    @Test(arguments: ["a\tb", "a\nb", "a\r\nb", "\u{1b}[2J", "\u{85}", "\u{2028}"])
    func `a branch's name ends neither its field nor the line`(_ name: String) throws {
        var request = RunSample.request(change: nil)
        request.branch = name
        let line = try #require(RunLogListener.line(recorded(1, .passed, request)))
        #expect(line.unicodeScalars.filter { $0 == "\t" }.count == 5)
        let breaks: Set<Unicode.Scalar> = ["\n", "\r", "\u{1b}", "\u{85}", "\u{2028}"]
        #expect(line.unicodeScalars.filter(breaks.contains).map(\.value) == [0x0A])
    }

    @Test func `a file that was moved away keeps its lines, and a new one is begun`() async throws {
        try await withTemporaryFolder { folder in
            let lines = Lines()
            let listener = RunLogListener(path: "\(folder)/runs", log: lines.logger)
            await listener.receive(recorded(1))
            try FileManager.default.moveItem(atPath: "\(folder)/runs", toPath: "\(folder)/runs.1")
            await listener.receive(recorded(2))
            await listener.receive(recorded(3))
            #expect(try runs("\(folder)/runs.1") == ["1"])
            #expect(try runs("\(folder)/runs") == ["2", "3"])
            #expect(lines.all.isEmpty)
        }
    }

    @Test func `a file that can't be written is logged once, until it could be written again`() async throws {
        try await withTemporaryFolder { folder in
            let (lines, path) = (Lines(), "\(folder)/logs/runs")
            let listener = RunLogListener(path: path, log: lines.logger)
            await listener.receive(recorded(1))
            await listener.receive(recorded(2))
            #expect(lines.count(.runLogFailed) == 1)
            try FileManager.default.createDirectory(atPath: "\(folder)/logs", withIntermediateDirectories: false)
            await listener.receive(recorded(3))
            #expect(try runs(path) == ["3"])
            try FileManager.default.removeItem(atPath: "\(folder)/logs")
            await listener.receive(recorded(4))
            await listener.receive(recorded(5))
            #expect(lines.count(.runLogFailed) == 2)
            #expect(lines.all.count == 2)
        }
    }

    @Test func `what is no file of its own is not written, and nobody waits for a reader`() async throws {
        try await withTemporaryFolder { folder in
            #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
            try Data().write(to: URL(fileURLWithPath: "\(folder)/other"))
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/link", withDestinationPath: "\(folder)/other")
            for path in ["\(folder)/pipe", "\(folder)/link", folder] {
                let lines = Lines()
                await RunLogListener(path: path, log: lines.logger).receive(recorded(1))
                #expect(lines.count(.runLogFailed) == 1, "\(path)")
            }
            #expect(try text("\(folder)/other") == "")
        }
    }

    @Test func `a line that was cut off does not damage the next one`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/runs"
            try Data("1\talp".utf8).write(to: URL(fileURLWithPath: path))
            let listener = RunLogListener(path: path, log: Lines().logger)
            await listener.receive(recorded(2))
            await listener.receive(recorded(3))
            #expect(try runs(path) == ["1", "2", "3"])
            #expect(try !text(path).contains("\n\n"))
        }
    }

    @Test func `the log says how many runs are missing`() async {
        let lines = Lines()
        await RunLogListener(path: "/none/runs", log: lines.logger).missed(7)
        #expect(lines.count(.eventsMissed) == 1)
        #expect(lines.all.first?.contains("7 runs") == true)
    }
}
