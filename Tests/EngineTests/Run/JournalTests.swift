import Foundation
@testable import Results
import Pipeline
import Synchronization
import Testing

@testable import Engine
import TestSupport

/// The records before and after a step of a run with effects outside.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct JournalTests {
    private final class Pages: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func write(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Full: Error, CustomStringConvertible { var description: String { "the disk is full" } }

    @Test func `an intent comes before the process, and its result before the steps that need it`() async throws {
        let pages = Pages()
        let workspace = RunFolder.current.workspace
        let setting = RunFolder.current.setting { setting in
            setting.journal = StepJournal { intent in
                // The step's own trace must not exist yet.
                let isDone = FileManager.default.fileExists(atPath: "\(workspace)/\(intent.step)")
                pages.write("begin \(intent.step) \(intent.attempt) \(intent.isIdempotent) done=\(isDone)")
            } end: { step, attempt in
                let isDone = FileManager.default.fileExists(atPath: "\(workspace)/\(step)")
                pages.write("end \(step) \(attempt.number) \(attempt.status.rawValue) done=\(isDone)")
            }
        }
        let outcome = await run(
            [
                .shell("build", "touch build") { $0.isIdempotent = true },
                .shell("publish", "touch publish; exit 3", needs: ["build"]) { $0.retry = RetryPolicy(count: 1) },
            ], setting: setting)
        #expect(outcome.verdict == .failed)
        #expect(
            pages.all == [
                "begin build 1 true done=false", "end build 1 passed done=true",
                "begin publish 1 false done=false", "end publish 1 failed done=true",
                "begin publish 2 false done=true", "end publish 2 failed done=true",
            ])
    }

    @Test func `a step whose intent can't be recorded is not started`() async throws {
        let setting = RunFolder.current.setting { setting in
            setting.journal = StepJournal { _ in
                throw Full()
            } end: { _, _ in
            }
        }
        let outcome = await run([.shell("publish", "touch published")], setting: setting)
        #expect(outcome.verdict == .infrastructure)
        let reason = outcome["publish"].reason ?? ""
        #expect(reason == "it was not started: its start could not be recorded: the disk is full")
        #expect(RunFolder.current.text("published") == nil)
    }
}
