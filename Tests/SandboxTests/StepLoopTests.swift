import TestBasics
import Concurrency
import Foundation
import Pipeline
import Synchronization
import SystemPackage
import Testing

@testable import Sandbox
import TestSupport

/// Commands that one thread watches together: the thread of their run.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct StepLoopTests {
    private func command(_ line: String) -> StepCommand {
        StepCommand(
            arguments: ["/bin/sh", "-c", line], workingDirectory: FilePath(RunFolder.current.workspace),
            environment: ["PATH": "/usr/bin:/bin"])
    }

    /// Runs `body` on a loop, with a function that runs a line there.
    private func withLoop<Value: Sendable>(
        grace: Duration = .seconds(5), _ body: @Sendable (Lines) async throws -> Value
    ) async throws -> Value {
        let host = StepHost(command: [RunFolder.stepInit.string])
        defer { _ = host.close() }
        let result: Result<Value, any Error> = await StepLoop.run { loop in
            let process = StepProcess(host: host, grace: grace, loop: loop)
            do { return .success(try await body(Lines(process: process, make: command))) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    struct Lines: Sendable {
        let process: StepProcess
        let make: @Sendable (String) -> StepCommand

        func run(_ line: String, timeout: Duration = .seconds(60), stop: StopSignal = StopSignal()) async throws
            -> (end: ProcessEnd, text: String)
        {
            let bytes = ByteList()
            let end = try await process.run(make(line), timeout: timeout, stop: stop) { bytes.add($0) }
            return (end, String(decoding: bytes.bytes, as: UTF8.self))
        }
    }

    /// The daemon is an actor that answers while its runs start and end.
    private actor Owner {
        private let wasAnswered = DispatchSemaphore(value: 0)

        func blockOnTheRunsThread(hasBegun: AsyncStream<Void>.Continuation) async -> Bool {
            await StepLoop.run { [wasAnswered] loop in
                #expect(loop != nil)
                let answer = try? await StepLoop.block(loop) {
                    hasBegun.finish()
                    return wasAnswered.wait(timeout: .now() + 60) == .success
                }
                return answer ?? false
            }
        }

        func answer() { wasAnswered.signal() }
    }

    @Test func `the owner of a run answers while the run blocks`() async {
        let owner = Owner()
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        async let wasFree = owner.blockOnTheRunsThread(hasBegun: hasBegun)
        for await _ in begun {}
        await owner.answer()
        #expect(await wasFree)
    }

    @Test func `the output of a short command is complete`() async throws {
        try await withLoop { lines in
            let (end, text) = try await lines.run("echo one; echo two >&2; exit 3")
            #expect(end == ProcessEnd(exitCode: 3))
            #expect(text == "one\ntwo\n")
        }
    }

    @Test(arguments: [65_535, 65_536, 65_537, 5_000_001]) func `a large output is complete`(count: Int) async throws {
        try await withLoop { lines in
            let (end, text) = try await lines.run("head -c \(count) /dev/zero | tr '\\0' x; exit 2")
            #expect(end == ProcessEnd(exitCode: 2))
            #expect(text.utf8.count == count)
        }
    }

    @Test func `a command that runs longer is watched as well`() async throws {
        try await withLoop { lines in
            let (end, text) = try await lines.run("echo a; sleep 1.2; echo b; sleep 0.1; echo c; exit 4")
            #expect(end == ProcessEnd(exitCode: 4))
            #expect(text == "a\nb\nc\n")
        }
    }

    @Test func `many commands run at the same time`() async throws {
        try await withLoop { lines in
            let ends = try await withThrowingTaskGroup(of: (Int, ProcessEnd, String).self) { group in
                for number in 0..<40 {
                    group.addTask {
                        let (end, text) = try await lines.run("sleep 0.0\(number % 7); echo \(number); exit \(number)")
                        return (number, end, text)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ends.count == 40)
            for (number, end, text) in ends {
                #expect(end == ProcessEnd(exitCode: Int32(number)))
                #expect(text == "\(number)\n")
            }
        }
    }

    @Test func `a time-out is enforced`() async throws {
        try await withLoop { lines in
            let end = try await lines.run("sleep 60", timeout: .milliseconds(100)).end
            #expect(
                end
                    == ProcessEnd(
                        signal: SIGTERM, stopped: StopRequest(.timedOut, reason: "it took longer than 100 ms")))
        }
    }

    @Test func `a stop ends a new command and its orphans`() async throws {
        let marker = Marker()
        try await withLoop(grace: .milliseconds(300)) { lines in
            let stop = StopSignal()
            async let ended = lines.run(
                "setsid sleep \(marker.seconds) & trap '' TERM; touch up; while :; do sleep 0.05; done", stop: stop)
            try await eventually { RunFolder.current.text("up") != nil }
            stop.stop(StopRequest(.cancelled, reason: "no"))
            let end = try await ended.end
            #expect(end.stopped?.kind == .cancelled)
            #expect(end.wasKilled)
        }
        #expect(marker.survivors == [])
    }

    @Test func `a supervisor that is clean, and only that, takes the next command`() async throws {
        let marker = Marker()
        try await withLoop { lines in
            let first = try await lines.run("echo $PPID")
            let second = try await lines.run("echo $PPID; sleep \(marker.seconds) & exit 0")
            #expect(first.text == second.text)
            #expect(second.end == ProcessEnd(exitCode: 0))
            #expect(marker.survivors == [])
            let third = try await lines.run("echo $PPID")
            #expect(third.text != second.text)
        }
    }

    @Test func `a supervisor that was killed between two commands is replaced`() async throws {
        try await withLoop { lines in
            let first = try await lines.run("echo $PPID").text
            let pid = try #require(pid_t(first.trimmingCharacters(in: .newlines)))
            kill(pid, SIGKILL)
            // The host reports that on the supervisor's socket once it has reaped it.
            try await eventually { kill(pid, 0) != 0 }
            let second = try await lines.run("echo $PPID; exit 5")
            #expect(second.end == ProcessEnd(exitCode: 5))
            #expect(second.text != first)
        }
    }

    @Test func `a command gets default signals and descriptors`() async throws {
        try await withLoop { lines in
            for _ in 0..<2 {
                let text = try await lines.run("ls /proc/self/fd; grep -E '^Sig(Blk|Ign)' /proc/self/status").text
                let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
                try #require(words.count == 8)
                #expect(words[..<4] == ["0", "1", "2", "3"])
                // The bits above are real-time signals, which keep the state that they had when this process started.
                for mask in [words[5], words[7]] {
                    #expect(try #require(UInt64(mask, radix: 16)) & 0x7fff_ffff == 0, "\(text)")
                }
            }
        }
    }

    @Test func `variables of one command do not stay in the supervisor`() async throws {
        try await withLoop { lines in
            var secret = lines.make("echo $PPID")
            secret.environment["TOKEN"] = "x-" + "\(UInt64.random(in: .min ... .max))"
            let bytes = ByteList()
            _ = try await lines.process.run(secret, timeout: .seconds(60), stop: StopSignal()) { bytes.add($0) }
            let next = try await lines.run("echo $PPID; env")
            #expect(next.text.hasPrefix(String(decoding: bytes.bytes, as: UTF8.self)))
            #expect(!next.text.contains("TOKEN"))
        }
    }
}
