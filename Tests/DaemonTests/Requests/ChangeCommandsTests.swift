import Archive
import Control
import Foundation
import Forges
import Logging
import Preparing
import Results
import StateFiles
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Daemon
@testable import Running
@testable import Store

/// What people who may write ask for at a forge. The change 7 is at `Sample.commit(1)`.
@Suite(.timeLimit(.minutes(1))) struct ChangeCommandsTests {
    /// What was asked to be landed.
    private final class Landed: Sendable {
        let all = Mutex<[String]>([])
    }

    private func withCommands(_ body: (Store.Index, ChangeCommands, Landed) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var log = Logger(label: "test")
        log.logLevel = .critical
        let daemon = try await Daemon(
            state: StateFolder(environment: ["PIPECTL_HOME": folder["home"]]), purpose: "test",
            options: DaemonOptions(slots: 1), executable: Products.path("pipectl"), log: log)
        let index = daemon.state.index
        let landed = Landed()
        let real = daemon.changeCommands()
        let commands = ChangeCommands(
            index: index, runs: real.runs, approvals: real.approvals, fixes: real.fixes,
            land: { change, head, repository, person in
                landed.all.withLock { $0.append("\(change) \(head) \(repository) \(person)") }
                return "change \(change) is in line"
            })
        do {
            try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
            try await index.setChange(Sample.change("7", .open), of: "alpha")
            try await body(index, commands, landed)
        } catch {
            await daemon.close()
            throw error
        }
        await daemon.close()
    }

    /// An order in a comment at change 7.
    private func order(
        _ command: ForgeCommand, change: Int? = 7, run: RunID? = nil, head: String? = nil, delay: Double? = 60,
        key: String = "comment 1"
    ) -> ForgeOrder {
        ForgeOrder(
            repository: "alpha", command: command, change: change, run: run, head: head, by: "ada at GitHub",
            writtenAt: delay.map { Date().addingTimeInterval($0) }, key: key)
    }

    private func reruns(_ index: Store.Index) async throws -> [RunID] {
        try await index.runs(RunFilter(repository: "alpha", limit: 100)).compactMap(\.rerunOf).sorted()
    }

    /// A run that waits for approval.
    private func held(_ index: Store.Index) async throws -> RunID {
        let id = try await index.enqueue(Sample.request()).run.id
        try await index.markRunning(id)
        let approval = Approval(
            why: "it changes Makefile", head: Sample.commit(1), definition: Sample.commit(0), binding: "b",
            askedAt: Date())
        _ = try await index.hold(id, for: approval, trust: .change)
        return id
    }

    // MARK: Rerun

    @Test func `the newest run of each workflow is repeated, and an order that comes twice starts one of each`()
        async throws
    {
        try await withCommands { index, commands, _ in
            let test = try await index.completed(Sample.request())
            let lint = try await index.completed(Sample.request("alpha", "lint"), verdict: .failed)
            for _ in 0..<2 {
                let outcome = try await commands.obey(order(.rerun(failedOnly: false)))
                #expect(outcome.isObeyed)
            }
            #expect(try await reruns(index) == [test, lint])
            // Another comment is another order: the repetitions have not ended, so there is nothing to repeat.
            let again = try await commands.obey(order(.rerun(failedOnly: false), key: "comment 2"))
            #expect(!again.isObeyed)
            #expect(try await reruns(index).count == 2)
        }
    }

    @Test func `only what failed is repeated`() async throws {
        try await withCommands { index, commands, _ in
            _ = try await index.completed(Sample.request())
            let none = try await commands.obey(order(.rerun(failedOnly: true)))
            #expect(!none.isObeyed)
            let lint = try await index.completed(Sample.request("alpha", "lint"), verdict: .failed)
            #expect(try await commands.obey(order(.rerun(failedOnly: true), key: "comment 2")).isObeyed)
            #expect(try await reruns(index) == [lint])
        }
    }

    @Test func `a button repeats its own run, at its own commit only`() async throws {
        try await withCommands { index, commands, _ in
            let test = try await index.completed(Sample.request())
            _ = try await index.completed(Sample.request("alpha", "lint"))
            func press(_ head: String, _ key: String) async throws -> ForgeOutcome {
                try await commands.obey(
                    order(
                        .rerun(failedOnly: false), change: nil, run: test, head: head, delay: nil, key: "button \(key)")
                )
            }
            #expect(try await !press(Sample.commit(9), "1").isObeyed)
            #expect(try await press(Sample.commit(1), "2").isObeyed)
            #expect(try await reruns(index) == [test])
        }
    }

    @Test(arguments: [
        ForgeCommand.rerun(failedOnly: false), .rerun(failedOnly: true), .approve(head: nil), .cancel, .fix,
    ])
    func `a change without runs can't be asked for anything but to land`(command: ForgeCommand) async throws {
        try await withCommands { index, commands, _ in
            let outcome = try await commands.obey(order(command))
            #expect(!outcome.isObeyed)
            #expect(try await index.runs(RunFilter(repository: "alpha", limit: 10)).isEmpty)
        }
    }

    @Test func `a change that nobody knows is refused`() async throws {
        try await withCommands { _, commands, landed in
            let unknown = try await commands.obey(order(.land, change: 8))
            #expect(!unknown.isObeyed)
            #expect(try await !commands.obey(order(.cancel, change: nil)).isObeyed)
            #expect(landed.all.withLock { $0 }.isEmpty)
        }
    }

    // MARK: Approve

    @Test func `a run that waits is approved by somebody at the forge, once`() async throws {
        try await withCommands { index, commands, _ in
            let id = try await held(index)
            #expect(try await commands.obey(order(.approve(head: nil))).isObeyed)
            let run = try #require(try await index.run(id)?.summary)
            #expect(run.heldFor == nil && run.state == .queued)
            #expect(try await !commands.obey(order(.approve(head: nil), key: "comment 2")).isObeyed)
        }
    }

    @Test func `a commit that was pushed a moment before is approved only by its name`() async throws {
        try await withCommands { index, commands, _ in
            let id = try await held(index)
            #expect(try await !commands.obey(order(.approve(head: nil), delay: 0)).isObeyed)
            #expect(try await index.run(id)?.summary.heldFor != nil)
            let other = String(repeating: "b", count: 12)
            #expect(try await !commands.obey(order(.approve(head: other), delay: 0)).isObeyed)
            #expect(try await index.run(id)?.summary.heldFor != nil)
            let head = String(Sample.commit(1).prefix(12))
            #expect(try await commands.obey(order(.approve(head: head), delay: 0)).isObeyed)
            #expect(try await index.run(id)?.summary.heldFor == nil)
        }
    }

    @Test func `the button of an older commit approves nothing`() async throws {
        try await withCommands { index, commands, _ in
            let id = try await held(index)
            var change = Sample.change("7", .open)
            change.head = Sample.commit(2)
            try await index.setChange(change, of: "alpha")
            let press = order(.approve(head: nil), change: nil, run: id, head: Sample.commit(1), delay: nil)
            #expect(try await !commands.obey(press).isObeyed)
            #expect(try await index.run(id)?.summary.heldFor != nil)
        }
    }

    // MARK: Cancel, fix, land

    @Test func `what waits is cancelled`() async throws {
        try await withCommands { index, commands, _ in
            let id = try await index.enqueue(Sample.request()).run.id
            #expect(try await commands.obey(order(.cancel)).isObeyed)
            #expect(try await index.run(id)?.summary.verdict == .cancelled)
            #expect(try await !commands.obey(order(.cancel, key: "comment 2")).isObeyed)
        }
    }

    @Test func `what did not fail, and what no workflow says how to fix, is not fixed`() async throws {
        try await withCommands { index, commands, _ in
            _ = try await index.completed(Sample.request())
            #expect(try await !commands.obey(order(.fix)).isObeyed)
            _ = try await index.completed(Sample.request("alpha", "lint"), verdict: .failed)
            #expect(try await !commands.obey(order(.fix, key: "comment 2")).isObeyed)
            #expect(try await index.runs(RunFilter(repository: "alpha", limit: 10)).count == 2)
        }
    }

    @Test func `a failed run is fixed on request, and a fix that goes on is not begun twice`() async throws {
        try await withCommands { index, commands, _ in
            let request = Sample.request()
            let id = try await index.enqueue(request).run.id
            try await index.markRunning(id)
            let report = Sample.report(id, request, verdict: .failed)
            try await commands.fixes.store.record(
                report, request: request, tests: Sample.tests, files: RunFiles(), in: index)
            let role = FixRole(of: id, attempt: 3, last: 4, mayPush: false)
            let maker = try await index.enqueue(.fixing(request, role)).run.id
            for key in ["comment 1", "comment 2"] {
                let outcome = try await commands.obey(order(.fix, key: key))
                #expect(outcome.isObeyed, "\(outcome.text)")
                #expect(outcome.text.contains("3") && outcome.text.contains("\(id)"))
            }
            let begun = try await commands.fixes.begin(id)
            #expect(begun.attempt == 3 && begun.running?.run == maker)
            let runs = try await index.runs(RunFilter(repository: "alpha", limit: 10))
            #expect(Set(runs.map(\.id)) == [id, maker])
            // Of two workflows the newest failed run is meant, and a run that passed since is not fixed.
            _ = try await index.completed(Sample.request(nonce: "again"))
            #expect(try await !commands.obey(order(.fix, key: "comment 3")).isObeyed)
        }
    }

    @Test func `a change is put in line at the head that it has`() async throws {
        try await withCommands { index, commands, landed in
            _ = try await index.enqueue(Sample.request())
            #expect(try await !commands.obey(order(.land, delay: 0)).isObeyed, "nobody can have read it")
            #expect(landed.all.withLock { $0 }.isEmpty)
            #expect(try await commands.obey(order(.land, key: "comment 2")).isObeyed)
            #expect(landed.all.withLock { $0 } == ["7 \(Sample.commit(1)) alpha ada at GitHub"])
        }
    }

    @Test func `a commit of a branch can't be landed`() async throws {
        try await withCommands { index, commands, landed in
            let id = try await index.completed(Sample.request(change: nil, head: 5))
            let press = order(.land, change: nil, run: id, head: Sample.commit(5), delay: nil)
            #expect(try await !commands.obey(press).isObeyed)
            #expect(landed.all.withLock { $0 }.isEmpty)
        }
    }
}
