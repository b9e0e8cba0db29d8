import TestBasics
import Control
import Store
import Results
import Foundation
import Logging
import Pipeline
import Testing

@testable import Engine
@testable import Sandbox
@testable import Daemon
@testable import Preparing
@testable import Running

@Suite struct NotifierTests {
    private func run(
        _ id: RunID, _ verdict: Verdict, change: String? = nil, _ edit: (inout RunRequest) -> Void = { _ in }
    ) -> IndexedRun {
        var request = RunRequest(
            repository: "app", workflow: "test", event: .merge, ref: "refs/heads/main", branch: "main", head: "a",
            definitionCommit: "a", subject: "main", concurrency: .queue(max: 10))
        edit(&request)
        var summary = RunSummary(
            id: id, repository: "app", workflow: "test", event: request.event, ref: request.ref, branch: "main",
            head: "a", change: change, state: .ended, verdict: verdict,
            createdAt: Date(timeIntervalSince1970: 0))
        summary.reason = "because\u{1b}[2J"
        return IndexedRun(summary: summary, request: request, steps: [])
    }

    private func kinds(_ run: IndexedRun, before: Verdict?) -> [NotifyEvent.Kind] {
        NotifyEvent.all(of: run, before: before).map(\.event)
    }

    @Test func `a branch turns red and green once`() {
        #expect(kinds(run(2, .failed), before: .passed) == [.branch, .red])
        #expect(kinds(run(2, .failed), before: nil) == [.branch, .red])
        #expect(kinds(run(2, .failed), before: .failed) == [.branch])
        #expect(kinds(run(2, .passed), before: .failed) == [.branch, .green])
        #expect(kinds(run(2, .flaky), before: .failed) == [.branch, .green])
        #expect(kinds(run(2, .passed), before: .passed) == [.branch])
        #expect(kinds(run(2, .infrastructure), before: .failed) == [.branch], "the box says nothing of the branch")
    }

    @Test func `what nobody asked for is no news`() {
        #expect(kinds(run(2, .passed, change: "7"), before: nil) == [.change])
        #expect(kinds(run(2, .failed) { $0.runsAtMostOnce = true }, before: nil) == [.release])
        #expect(kinds(run(2, .superseded), before: nil) == [])
        #expect(kinds(run(2, .failed) { $0.kind = .flakeProbe(1) }, before: nil) == [])
        #expect(kinds(run(2, .failed) { $0.kind = .warmUp(isMissed: false) }, before: .passed) == [.branch, .red])
        #expect(kinds(run(2, .failed) { $0.onlySteps = ["a"] }, before: .passed) == [])
        #expect(kinds(run(2, .failed) { $0.event = .manual }, before: .passed) == [])
    }

    @Test func `an address can't add to what curl is told`() {
        let config = NotifyTarget.curl("https://host.example/\"\\x", body: "/tmp/b", .seconds(30))
        #expect(config.hasPrefix(#"url = "https://host.example/\"\\x""# + "\n"))
        #expect(config.contains("max-time = 30\n"))
    }

    /// A folder with a command that appends what it gets, and fails while there is a file "broken".
    private func withTarget(_ body: (String, NotifyOptions) async throws -> Void) async throws {
        let room = try TemporaryFolder(.disk)
        defer { withExtendedLifetime(room) {} }
        let folder = room.path
        var options = NotifyOptions()
        options.command = "test ! -e '\(folder)/broken' && cat >> '\(folder)/got' && echo >> '\(folder)/got'"
        try await body(folder, options)
    }

    private func got(_ folder: String) throws -> [NotifyEvent] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let text = (try? String(contentsOfFile: folder + "/got", encoding: .utf8)) ?? ""
        return try text.split(separator: "\n").map { try decoder.decode(NotifyEvent.self, from: Data($0.utf8)) }
    }

    private func end(_ index: Index, _ head: Character, _ verdict: Verdict) async throws -> RunID {
        let id = try await begin(index, head)
        try await finish(index, id, head, verdict)
        return id
    }

    private func begin(_ index: Index, _ head: Character) async throws -> RunID {
        let commit = String(repeating: head, count: 40)
        let request = RunRequest(
            repository: "app", workflow: "test", event: .merge, ref: "refs/heads/main", branch: "main", head: commit,
            definitionCommit: commit, subject: "main", concurrency: .queue(max: 10))
        let id = try await index.enqueue(request).run.id
        try await index.markRunning(id)
        return id
    }

    private func finish(_ index: Index, _ id: RunID, _ head: Character, _ verdict: Verdict) async throws {
        try await index.finish(
            Report(
                id: id, repository: "app", workflow: "test", event: .merge, ref: "refs/heads/main", branch: "main",
                head: String(repeating: head, count: 40), verdict: verdict, reason: "r", createdAt: Date(),
                startedAt: Date(), endedAt: Date(),
                reproduce: "", box: .current), tests: [], archivedBytes: 1)
    }

    private func notifier(_ index: Index, _ options: NotifyOptions, _ folder: String) -> Notifier {
        Notifier(
            index: index, options: options, target: NotifyTarget(options: options, folder: folder),
            news: ChangeNotifier(), log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test(.timeLimit(.minutes(3)))
    func `a receiver that fails does not have the other one told twice`() async throws {
        try await withTarget { folder, options in
            var options = options
            // Nothing listens on this port.
            options.url = "http://127.0.0.1:1/"
            let index = try Index.inMemory()
            try await index.openOutbox()
            let run = try await end(index, "1", .passed)
            let notifier = notifier(index, options, folder)
            try await notifier.note()
            _ = try await notifier.deliverAll()
            let left = try #require(try await index.nextOfOutbox(horizon: .distantFuture))
            #expect(left.run == run && left.receiver == "url" && left.failures == 1)
            try await index.postponeOutboxItem(left.id, until: Date(timeIntervalSince1970: 0))
            _ = try await notifier.deliverAll()
            #expect(try await index.nextOfOutbox(horizon: .distantFuture)?.failures == 3)
            #expect(try got(folder).map(\.event) == [.branch])
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `an event that fails holds up only those of its run`() async throws {
        try await withTarget { folder, options in
            let index = try Index.inMemory()
            try await index.openOutbox()
            let notifier = notifier(index, options, folder)
            let red = try await end(index, "1", .failed)
            try await notifier.note()
            let item = try #require(try await index.nextOfOutbox(horizon: .distantFuture))
            try await index.postponeOutboxItem(item.id, until: Date().addingTimeInterval(3_600))
            let green = try await end(index, "2", .passed)
            try await notifier.note()
            // On a busy machine the command may have to be tried again, a second later.
            while try got(folder).count < 2 { _ = try await notifier.deliverAll() }
            #expect(try got(folder).map(\.run) == [green, green])
            try await index.postponeOutboxItem(item.id, until: Date(timeIntervalSince1970: 0))
            while try got(folder).count < 4 { _ = try await notifier.deliverAll() }
            #expect(try got(folder).map(\.run) == [green, green, red, red])
        }
    }

    @Test func `the end of an older run is told after that of a newer one`() async throws {
        let index = try Index.inMemory()
        let older = try await begin(index, "1")
        let newer = try await end(index, "2", .passed)
        try await index.openOutbox()
        #expect(try await index.untold(since: .distantPast) == [])
        try await finish(index, older, "1", .passed)
        #expect(older < newer)
        #expect(try await index.untold(since: .distantPast) == [older])
    }

    @Test func `a status that asks for another try is not final`() {
        #expect([200, 302, 400, 404, 408, 429, 499, 500, 503].filter(NotifyRefusal.isFinal) == [400, 404, 499])
        #expect(NotifyTarget.status(in: "curl: (22) error: 500\n\nhttp-status=404\n") == 404)
        #expect(NotifyTarget.status(in: "curl: (7) refused") == nil)
    }

    /// As curl ends with `fail`: a redirect is success to it.
    @Test(arguments: [
        (0, "200", true), (0, "204", true), (0, "299", true), (0, "301", false), (0, "302", false), (0, "308", false),
        (0, "101", false), (0, "000", false), (0, "", false), (22, "404", false), (22, "503", false),
    ])
    func `only a status of 2xx is a delivery`(code: Int32, status: String, isDelivered: Bool) {
        let text = status.isEmpty ? "" : "\nhttp-status=\(status)\n"
        let result = ExternalCommandResult(ending: .exited(code), output: Array(text.utf8), droppedBytes: 0)
        let failure = NotifyTarget.failure(of: result, isHTTP: true)
        #expect((failure == nil) == isDelivered)
        #expect((failure as? NotifyRefusal)?.status == (status == "404" ? 404 : nil), "all others are tried again")
        if !isDelivered, status != "404" { #expect((failure as? RequestError)?.code == .notify) }
        #expect((NotifyTarget.failure(of: result, isHTTP: false) == nil) == (code == 0), "a command has no status")
    }

    @Test(.timeLimit(.minutes(3)))
    func `events are delivered in order, once, and again after a failure`() async throws {
        try await withTarget { folder, options in
            let index = try Index.inMemory()
            let notifier = notifier(index, options, folder)
            _ = try await end(index, "0", .passed)
            try await index.openOutbox()
            try await notifier.note()
            #expect(try await index.nextOfOutbox(horizon: .distantFuture) == nil, "what was there before is no news")
            let red = try await end(index, "1", .failed)
            let green = try await end(index, "2", .passed)
            try Data().write(to: URL(fileURLWithPath: folder + "/broken"))
            try await notifier.note()
            try await notifier.note()
            // On a busy machine the second that a failure waits may be over already, so that it was tried again.
            #expect(try await notifier.deliverAll() <= .seconds(8))
            #expect(try await (index.nextOfOutbox(horizon: .distantFuture)?.failures ?? 0) >= 1 && got(folder).isEmpty)
            try FileManager.default.removeItem(atPath: folder + "/broken")
            // Another daemon goes on with what this one could not deliver.
            let first = try #require(try await index.nextOfOutbox(horizon: .distantFuture))
            try await index.postponeOutboxItem(first.id, until: Date(timeIntervalSince1970: 0))
            _ = try await notifier.deliverAll()
            while let item = try await index.nextOfOutbox(horizon: .distantFuture) {
                try await index.postponeOutboxItem(item.id, until: Date(timeIntervalSince1970: 0))
                _ = try await notifier.deliverAll()
            }
            let events = try got(folder)
            #expect(events.map(\.event) == [.branch, .red, .branch, .green])
            #expect(events.map(\.run) == [red, red, green, green])
            try await notifier.note()
            _ = try await notifier.deliverAll()
            #expect(try got(folder).count == 4)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["got"], "nothing is left behind")
        }
    }

    @Test func `each failure waits longer, an hour at most`() {
        #expect((0...3).map(Notifier.pause) == [1, 2, 4, 8])
        #expect(Notifier.pause(after: 40) == 3_600)
    }
}
