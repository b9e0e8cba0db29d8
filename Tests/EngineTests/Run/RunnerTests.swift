import Concurrency
import Foundation
import Pipeline
import Synchronization
import SystemPackage
import TestBasics
import TestSupport
import StepSlots
import Testing

@testable import Results
@testable import Engine

/// Runs with real processes: the order of starts, and the verdicts.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerTests {
    private func interval(_ step: StepRecord) throws -> ClosedRange<Date> {
        let first = try #require(step.attempts.first)
        return first.startedAt...(try #require(step.attempts.last?.endedAt))
    }

    @Test func `independent steps overlap`() async throws {
        // Each waits for the other's start, so they would never end one after the other.
        let outcome = await run([
            .shell("one", "touch one; while [ ! -e two ]; do sleep 0.01; done"),
            .shell("two", "touch two; while [ ! -e one ]; do sleep 0.01; done"),
        ])
        #expect(outcome.verdict == .passed)
        #expect(outcome.reason == "2 of 2 steps passed")
        #expect(try interval(outcome["one"]).overlaps(interval(outcome["two"])))
    }

    @Test func `a diamond runs in a valid order`() async throws {
        let outcome = await run([
            .shell("end", "cat left right > end", needs: ["left", "right"]),
            .shell("right", "cp start right", needs: ["start"]),
            .shell("left", "cp start left", needs: ["start"]),
            .shell("start", "echo 1 > start"),
        ])
        #expect(outcome.verdict == .passed)
        #expect(RunFolder.current.text("end") == "1\n1\n")
        #expect(outcome.steps.map(\.name) == ["end", "right", "left", "start"])
        for middle in ["left", "right"] {
            #expect(try interval(outcome["start"]).upperBound <= interval(outcome[middle]).lowerBound)
            #expect(try interval(outcome[middle]).upperBound <= interval(outcome["end"]).lowerBound)
        }
    }

    @Test func `five hundred random steps end in a valid order`() async throws {
        var generator = SplitMix64(seed: 7)
        let plan = Plan.random(steps: 500, with: &generator, conditions: false)
        let events = EventList()
        let outcome = await run(plan.steps, events: events)
        #expect(outcome.verdict == .passed)
        var started: Set<String> = []
        var ended: Set<String> = []
        let needs = Dictionary(uniqueKeysWithValues: plan.steps.map { ($0.name, $0.needs) })
        for event in events.events {
            switch event {
            case .stepStarted(let name, _, _, _):
                #expect(started.insert(name).inserted)
                #expect(ended.isSuperset(of: needs[name] ?? []))
            case .stepEnded(let record): #expect(ended.insert(record.name).inserted)
            default: break
            }
        }
        #expect(ended.count == 500)
    }

    @Test func `the end is reported once when no further step will start`() async throws {
        let events = EventList()
        let ended = Mutex<[Int]>([])
        let setting = RunFolder.current.setting { setting in
            setting.finished = {
                let count = events.events.count { if case .stepEnded = $0 { true } else { false } }
                ended.withLock { $0.append(count) }
            }
        }
        let steps: [PlannedStep] = [
            .shell("one", "exit 1"), .shell("two", "true", needs: ["one"]),
            .shell("three", "true") { $0.retry = RetryPolicy(count: 1) },
        ]
        #expect(await run(steps, setting: setting, events: events).verdict == .failed)
        #expect(ended.withLock { $0 } == [3])
    }

    @Test func `no more steps run than there are slots`() async throws {
        let events = EventList()
        let steps = (0..<24).map { PlannedStep.shell("s\($0)", "sleep 0.02") }
        let outcome = await run(steps, pool: SlotPool(slots: 3), events: events)
        #expect(outcome.verdict == .passed)
        var running = 0
        var most = 0
        for event in events.events {
            switch event {
            case .stepStarted: running += 1
            case .attemptEnded: running -= 1
            default: break
            }
            most = max(most, running)
        }
        // An attempt's end is reported after its slot is free, so one more may have started for each.
        #expect(most >= 3 && most <= 6)
        let moments = try outcome.steps.flatMap { step in
            let interval = try interval(step)
            return [(interval.lowerBound.addingTimeInterval(0.005), 1), (interval.upperBound, -1)]
        }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        var depth = 0
        for (_, change) in moments {
            depth += change
            #expect(depth <= 3)
        }
        #expect(
            events.events.contains {
                if case .stepWaiting(_, let reason) = $0 { reason == "all 3 slots are busy" } else { false }
            })
    }

    @Test func `two runs share a named resource`() async throws {
        let pool = SlotPool(slots: 8)
        let simulator = Resource("simulator", capacity: 1)
        // mkdir fails if the folder exists, so two at the same time would be noticed.
        let steps = (0..<6).map { number in
            PlannedStep.shell("s\(number)", "mkdir taken; sleep 0.01; rmdir taken") {
                $0.resources = [ResourceUse(resource: simulator, units: 1)]
            }
        }
        let folder = RunFolder.current
        async let one = run(steps, setting: folder.setting(run: "one"), pool: pool)
        async let two = run(steps, setting: folder.setting(run: "two"), pool: pool)
        let verdicts = await [one.verdict, two.verdict]
        #expect(verdicts == [.passed, .passed])
    }

    @Test func `a resource with too little capacity is reported`() async {
        let licence = Resource("licence", capacity: 4)
        let outcome = await run(
            [.shell("s", "true") { $0.resources = [ResourceUse(resource: licence, units: 3)] }],
            pool: SlotPool(slots: 2, capacities: ["licence": 2]))
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].reason?.contains("it uses 3 of \"licence\" and the daemon has 2") ?? false)
    }

    @Test func `a retry that passes makes the run flaky`() async {
        let outcome = await run([
            .shell("s", "[ -e tried ] || { touch tried; exit 3; }") { $0.retry = RetryPolicy(count: 2) }
        ])
        #expect(outcome.verdict == .flaky)
        #expect(outcome["s"].attempts.map(\.status) == [.failed, .passed])
        #expect(outcome["s"].attempts.map(\.exitCode) == [3, 0])
    }

    @Test func `retries are counted and end`() async {
        let outcome = await run([
            .shell("s", "echo $PIPECTL_ATTEMPT; exit 1") { $0.retry = RetryPolicy(count: 2) }
        ])
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].attempts.map(\.number) == [1, 2, 3])
        #expect((1...3).map { RunFolder.current.log(outcome["s"], attempt: $0) } == ["1\n", "2\n", "3\n"])
    }

    @Test(arguments: [(75, 2), (1, 1)]) func `retries by exit code`(code: Int, attempts: Int) async {
        let outcome = await run([
            .shell("s", "exit \(code)") { $0.retry = RetryPolicy(count: 1, condition: .exitCodes(75)) }
        ])
        #expect(outcome["s"].attempts.count == attempts)
    }

    @Test func `retries for infrastructure ignore failures`() async throws {
        let retry = RetryPolicy(count: 1, condition: .infrastructure)
        let failed = await run([.shell("s", "exit 1") { $0.retry = retry }])
        #expect(failed["s"].attempts.count == 1)
        // Kills its supervisor, which is the parent of the step's shell.
        let outcome = await run([
            .shell("s", "[ -e tried ] || { touch tried; kill -9 $PPID; sleep 60; }") { $0.retry = retry }
        ])
        #expect(outcome["s"].attempts.map(\.status) == [.infrastructure, .passed])
        // The machine failed and not the tree, so this is not flaky.
        #expect(outcome.verdict == .passed)
    }

    @Test func `the pause between attempts is kept and can be stopped`() async throws {
        let stop = StopSignal()
        let events = EventList()
        var backoff = Backoff.constant(.milliseconds(50))
        (backoff.factor, backoff.limit) = (1_000, 3_600)
        let retry = RetryPolicy(count: 5, backoff: backoff)
        async let outcome = run([.shell("s", "exit 1") { $0.retry = retry }], stop: stop, events: events)
        try await events.wait { if case .attemptEnded(_, let attempt) = $0 { attempt.number == 2 } else { false } }
        stop.stop(StopRequest(.superseded, reason: "a newer push came"))
        let ended = await outcome
        #expect(ended.verdict == .superseded)
        #expect(ended.reason == "a newer push came")
        let attempts = ended["s"].attempts
        #expect(attempts.count == 2)
        #expect(attempts[1].startedAt.timeIntervalSince(attempts[0].startedAt) >= 0.05)
    }

    @Test func `an allowed failure does not count`() async {
        let outcome = await run([
            .shell("lint", "exit 1") { $0.allowsFailure = true },
            .shell("after", "true", needs: ["lint"]),
        ])
        #expect(outcome.verdict == .passed)
        #expect(outcome.reason == "1 of 2 steps passed; a failure was allowed")
        #expect(outcome["lint"].status == .failed)
    }

    @Test func `after a failure the steps for clean-up and failures run`() async {
        let outcome = await run([
            .shell("build", "exit 1"),
            .shell("test", "true", needs: ["build"]),
            .shell("clean", "touch cleaned") { $0.condition = .always },
            .shell("notify", "touch notified") { $0.condition = .onFailure },
            .shell("report", "touch reported", needs: ["test"]) { $0.condition = .onFailure },
        ])
        #expect(outcome.verdict == .failed)
        #expect(outcome.reason == "step \"build\" failed: exit code 1")
        #expect(outcome["test"].status == .skipped)
        #expect(outcome["test"].reason == "\"build\", which it needs, failed")
        for file in ["cleaned", "notified", "reported"] { #expect(RunFolder.current.text(file) != nil) }
    }

    @Test func `after a cancellation only the clean-up runs`() async throws {
        let stop = StopSignal()
        let events = EventList()
        async let outcome = run(
            [
                .shell("long", "sleep 60"),
                .shell("later", "true", needs: ["long"]),
                .shell("clean", "touch cleaned") { $0.condition = .always },
                .shell("notify", "touch notified") { $0.condition = .onFailure },
            ], stop: stop, events: events)
        try await events.wait { if case .stepStarted("long", _, _, _) = $0 { true } else { false } }
        stop.stop(StopRequest(.cancelled, reason: "cancelled by ada"))
        let ended = await outcome
        #expect(ended.verdict == .cancelled)
        #expect(ended.reason == "cancelled by ada")
        #expect(ended.steps.map(\.status) == [.cancelled, .cancelled, .passed, .cancelled])
        #expect(RunFolder.current.text("cleaned") != nil)
        #expect(RunFolder.current.text("notified") == nil)
    }

    @Test func `a stop that comes too late changes nothing`() async {
        let stop = StopSignal()
        let setting = RunFolder.current.setting()
        let outcome = await Runner(setting: setting, pool: SlotPool(slots: 1)) { event in
            if case .stepEnded = event { stop.stop(StopRequest(.cancelled, reason: "too late")) }
        }.run(Plan(workflow: "w", steps: [.shell("s", "true")]), stop: stop)
        #expect(outcome.verdict == .passed)
    }

    @Test func `failing fast ends the others and still runs steps for failures`() async {
        let outcome = await run(
            [
                .shell("fails", "while [ ! -e started ]; do sleep 0.01; done; exit 1"),
                .shell("long", "touch started; sleep 60"),
                .shell("later", "true", needs: ["long"]),
                .shell("notify", "touch notified") { $0.condition = .onFailure },
            ], failFast: true)
        #expect(outcome.verdict == .failed)
        #expect(outcome["long"].status == .cancelled)
        #expect(outcome["later"].reason == "\"fails\" failed and the workflow fails fast")
        #expect(RunFolder.current.text("notified") != nil)
    }

    @Test func `a time-out is a status of its own`() async {
        let outcome = await run([.shell("s", "echo begun; sleep 60") { $0.timeout = 0.3 }])
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].status == .timedOut)
        #expect(outcome["s"].reason == "it took longer than 300 ms")
        #expect(RunFolder.current.log(outcome["s"]) == "begun\n")
    }

    @Test func `a cycle ends the run and does not hang it`() async {
        let outcome = await run([.shell("a", "true", needs: ["b"]), .shell("b", "true", needs: ["a"])])
        #expect(outcome.verdict == .infrastructure)
    }

    @Test func `a missing stepinit is reported`() async {
        var place = RunFolder.current.localPlace()
        place.stepInit = "/nonexistent/stepinit"
        let setting = RunFolder.current.setting { $0.place = place }
        let outcome = await run([.shell("s", "true")], setting: setting)
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].reason?.contains("/nonexistent/stepinit can't be started") ?? false)
    }

    @Test func `a folder that can't be created is reported`() async throws {
        let folder = RunFolder.current
        try folder.write("", to: "file")
        let outcome = await run(
            [.shell("s", "true")], setting: folder.setting { $0.folder = FilePath(folder.workspace + "/file/run") })
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].status == .infrastructure)
    }
}
