import TestBasics
import Concurrency
import Foundation
@testable import Results
import Pipeline
import SystemPackage
import Testing

@testable import Engine
import StepLogs
import TestSupport

/// No process outlives a step that ignores SIGTERM, forks into new sessions and writes without end.
@Suite(.runFolder, .serialized, .timeLimit(.minutes(10))) struct SurvivorTests {
    enum Ending: CaseIterable { case stop, timeOut, taskCancellation }

    static let grace = Duration.milliseconds(150)

    /// All its processes have `marker` in their command line.
    static func stubborn(_ marker: Int) -> String {
        """
        trap '' TERM HUP INT
        setsid sh -c "trap '' TERM HUP INT; (setsid sh -c \\"trap '' TERM; while :; do echo deep \(marker); done\\" &)
        while :; do echo grandchild \(marker); done" &
        : > up
        while :; do echo leader \(marker); done
        """
    }

    /// Each time-out takes its time.
    static let rounds = Ending.allCases.flatMap { ending in (0..<(ending == .timeOut ? 4 : 20)).map { (ending, $0) } }

    @Test(arguments: rounds)
    func `no process lives long after the grace period`(ending: Ending, round: Int) async throws {
        let marker = Marker()
        let folder = RunFolder.current
        let stop = StopSignal()
        var step = PlannedStep.shell("s", SurvivorTests.stubborn(marker.seconds))
        // Long enough to have started on a busy machine.
        if ending == .timeOut { step.timeout = 5 }
        let setting = folder.setting(grace: SurvivorTests.grace) { $0.logLimits = LogLimits(head: 4_096, tail: 4_096) }
        let steps = [step]
        let work = Task { await run(steps, setting: setting, stop: stop) }
        if ending != .timeOut {
            try await eventually { folder.text("up") != nil && marker.survivors.count >= 3 }
            if ending == .stop { stop.stop(StopRequest(.cancelled, reason: "enough")) } else { work.cancel() }
            // On a thread of its own, since other tests may occupy the pool.
            let clock = ContinuousClock()
            let asked = clock.now
            let left = try await onOwnThread {
                while !marker.survivors.isEmpty && clock.now - asked < .seconds(60) { usleep(1_000) }
                return clock.now - asked
            }
            #expect(left < .seconds(60))
        }
        let outcome = await work.value
        #expect(marker.survivors == [])
        let record = try #require(outcome.steps.first)
        #expect(record.status == (ending == .timeOut ? .timedOut : .cancelled))
        let reason = try #require(record.reason)
        #expect(reason.hasSuffix("it ignored SIGTERM for 150 ms and was killed"), "\(reason)")
        #expect((record.attempts.first?.log?.droppedBytes ?? 0) > 0)
    }

    /// pipectl itself dies: the process of an exit test runs the step and is killed.
    @Test(arguments: 0..<20) func `no process lives after pipectl was killed`(round: Int) async throws {
        let marker = Marker()
        let folder = RunFolder.current.root
        let number = marker.seconds
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, number = number as Int] in
            try await RunFolder.$current.withValue(RunFolder(root: folder)) {
                async let outcome = run([.shell("s", SurvivorTests.stubborn(number))])
                try await eventually {
                    RunFolder.current.text("up") != nil && Marker(seconds: number).survivors.count >= 3
                }
                kill(getpid(), SIGKILL)
                _ = await outcome
            }
        }
        let dead = ContinuousClock().now
        let left = try await onOwnThread {
            while !marker.survivors.isEmpty && ContinuousClock().now - dead < .seconds(60) { usleep(1_000) }
            return ContinuousClock().now - dead
        }
        #expect(left < .seconds(60))
        #expect(marker.survivors == [])
    }

    @Test func `processes that change their session are killed`() async throws {
        let marker = Marker()
        // Each lives for a moment and starts a child in a new session.
        let hop = "trap '' TERM; setsid sh \\$0 \(marker.seconds) & exit 0"
        let stop = StopSignal()
        let line = "echo \"\(hop)\" > hop; for i in 1 2 3; do sh ./hop \(marker.seconds); done; : > up; sleep 1000"
        async let outcome = run(
            [.shell("s", line)],
            setting: RunFolder.current.setting(grace: .milliseconds(100)), stop: stop)
        try await eventually { RunFolder.current.text("up") != nil }
        stop.stop(StopRequest(.cancelled, reason: "enough"))
        #expect(await outcome["s"].status == .cancelled)
        #expect(marker.survivors == [])
    }

    @Test func `a supervisor that a step stopped is killed with its processes`() async throws {
        let marker = Marker()
        let stop = StopSignal()
        async let outcome = run(
            [.shell("s", "kill -STOP $PPID; : > up; exec sleep \(marker.seconds)")],
            setting: RunFolder.current.setting(grace: .zero), stop: stop)
        try await eventually { RunFolder.current.text("up") != nil }
        stop.stop(StopRequest(.cancelled, reason: "enough"))
        #expect(await outcome["s"].status == .cancelled)
        #expect(marker.survivors == [])
    }

    @Test func `a deep chain of processes is ended`() async throws {
        let marker = Marker()
        let line = """
            cat > deep <<'END'
            if [ $1 = 0 ]; then : > up; exec sleep \(marker.seconds); fi
            setsid sh ./deep $(($1 - 1)) \(marker.seconds); :
            END
            sh ./deep 150 \(marker.seconds)
            """
        let stop = StopSignal()
        async let outcome = run(
            [.shell("s", line)], setting: RunFolder.current.setting(grace: .milliseconds(50)), stop: stop)
        try await eventually { RunFolder.current.text("up") != nil }
        stop.stop(StopRequest(.cancelled, reason: "enough"))
        #expect(await outcome["s"].status == .cancelled)
        #expect(marker.survivors == [])
    }
}
