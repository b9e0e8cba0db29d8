import TestBasics
@testable import Results
@testable import Store
import Foundation
import TestSupport
import Testing

/// The recorded steps of release runs, and what a restart concludes from them.
@Suite struct IntentTests {
    /// The steps of a release when the daemon ended: started, and how they ended, if that is known.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [(name: String, isIdempotent: Bool, status: StepStatus?)]
        /// Text that the verdict's reason must contain; empty if the run is to be queued again.
        var says: [String]
    }

    static let cases = [
        Case(testDescription: "nothing had begun", steps: [], says: []),
        Case(testDescription: "an idempotent step was going on", steps: [("build", true, nil)], says: []),
        Case(
            testDescription: "idempotent steps had ended", steps: [("build", true, .passed), ("check", true, .failed)],
            says: []),
        Case(
            testDescription: "a step was going on", steps: [("build", true, .passed), ("publish", false, nil)],
            says: [
                "step \"publish\" (make publish) was started at 2026-09-21T14:13:20.000Z on attempt 1 and its result is not known"
            ]
        ),
        Case(
            testDescription: "a step had passed while others remained",
            steps: [("publish", false, .passed), ("announce", true, nil)],
            says: ["step \"publish\" (make publish) was started at", "on attempt 1 and passed"]),
        Case(
            testDescription: "a step had failed, whatever it did by then", steps: [("publish", false, .failed)],
            says: ["and failed"]),
    ]

    @Test(arguments: cases)
    func `a restart needs a person if a step may have acted`(_ example: Case) async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request(change: nil, atMostOnce: true)).run.id
        let attempt = try await index.markRunning(id)
        for step in example.steps {
            try await index.begin(Self.intent(step.name, step.isIdempotent), of: id, attempt: attempt)
            guard let status = step.status else { continue }
            try await index.end(step: step.name, Self.record(status), of: id, attempt: attempt)
        }
        let recovered = try #require(try await index.recoverInterrupted().first)
        guard !example.says.isEmpty else {
            #expect(recovered.outcome == .queued(attempt: 2))
            return
        }
        guard case .ended(.infrastructure, let reason) = recovered.outcome else {
            Issue.record("it must end as infrastructure, not \(recovered.outcome)")
            return
        }
        #expect(reason.hasPrefix("unknown: check it by hand: "))
        for part in example.says { #expect(reason.contains(part), "\(reason)") }
        #expect(reason.contains("`pipectl rerun \(id)`"))
        #expect(try await index.queued().isEmpty)
        #expect(try await index.run(id)?.summary.verdict == .infrastructure)
        #expect(try await index.endedWithoutReport().map(\.id) == [id])
        #expect(try await index.recoverInterrupted().isEmpty, "once is enough")
    }

    @Test func `an intent is on disk before its step starts`() async throws {
        let folder = try TemporaryFolder()
        let index = try Index(path: folder.path + "/index.sqlite")
        let id = try await index.enqueue(Sample.request(change: nil, atMostOnce: true)).run.id
        try await index.markRunning(id)
        try await index.begin(Self.intent("publish", false), of: id, attempt: 1)
        // Another process sees what was committed, and nothing else.
        let other = try Index(path: folder.path + "/index.sqlite", check: .none)
        #expect(try await other.intents(of: id) == [RecordedIntent(Self.intent("publish", false), runAttempt: 1)])
    }

    @Test func `an intent of a run that is not running is refused`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request(change: nil, atMostOnce: true)).run.id
        let error = await #expect(throws: ArchiveError.self) {
            try await index.begin(Self.intent("publish", false), of: id, attempt: 1)
        }
        #expect(error?.code == .wrongState, "the run is not running")
        #expect(try await index.intents(of: id).isEmpty)
    }

    @Test func `a step's attempts and the run's attempts are distinguished`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request(change: nil, atMostOnce: true)).run.id
        for attempt in 1...2 {
            try await index.markRunning(id)
            for number in 1...2 {
                var intent = Self.intent("build", true)
                intent.attempt = number
                try await index.begin(intent, of: id, attempt: attempt)
                try await index.end(step: "build", Self.record(.failed, number), of: id, attempt: attempt)
            }
            #expect(try await index.recoverInterrupted().map(\.outcome) == [.queued(attempt: attempt + 1)])
        }
        let intents = try await index.intents(of: id)
        #expect(intents.map(\.runAttempt) == [1, 1, 2, 2])
        #expect(intents.map(\.intent.attempt) == [1, 2, 1, 2])
        #expect(intents.allSatisfy { $0.status == .failed })
    }

    @Test func `a step that may have acted takes precedence over a newer run`() async throws {
        let index = try await Index.watching()
        let old = try await index.enqueue(Sample.request(change: nil, head: 1, atMostOnce: true)).run.id
        try await index.markRunning(old)
        try await index.begin(Self.intent("publish", false), of: old, attempt: 1)
        try await index.accept(Sample.request(change: nil, head: 2, atMostOnce: true))
        let recovered = try await index.recoverInterrupted().map(\.outcome)
        guard case .ended(.infrastructure, let reason)? = recovered.first else {
            Issue.record("what was done must not go unseen: \(recovered)")
            return
        }
        #expect(reason.contains("\"publish\""))
    }

    @Test func `a foreground run is not started again`() async throws {
        let index = try await Index.watching()
        var request = Sample.request()
        request.options.isForeground = true
        let id = try await index.enqueue(request).run.id
        try await index.markRunning(id)
        guard case .ended(.infrastructure, let reason)? = try await index.recoverInterrupted().first?.outcome else {
            Issue.record("it must end")
            return
        }
        #expect(reason.hasPrefix("interrupted"))
    }

    @Test func `findings list every intent`() {
        let known = RecordedIntent(Self.intent("build", true), runAttempt: 1, status: .passed, endedAt: Sample.start)
        let unknown = RecordedIntent(Self.intent("publish", false), runAttempt: 1)
        #expect(known.finding.severity == .note)
        #expect(known.finding.message.contains("(idempotent)"))
        #expect(unknown.finding.severity == .error)
        #expect(unknown.finding.rule == "intent")
        #expect(unknown.finding.suggestion != nil)
    }

    static func intent(_ step: String, _ isIdempotent: Bool) -> StepIntent {
        StepIntent(
            step: step, attempt: 1, command: "make \(step)", isIdempotent: isIdempotent, startedAt: Sample.start)
    }

    static func record(_ status: StepStatus, _ number: Int = 1) -> AttemptRecord {
        AttemptRecord(
            number: number, startedAt: Sample.start, endedAt: Sample.start.addingTimeInterval(1), status: status)
    }
}
