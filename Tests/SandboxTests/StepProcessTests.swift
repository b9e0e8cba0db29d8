import TestBasics
import Concurrency
import Foundation
import Pipeline
import Synchronization
import SystemPackage
import Testing

@testable import Sandbox
import TestSupport

@Suite(.runFolder, .timeLimit(.minutes(1))) struct StepProcessTests {
    private func process(grace: Duration = .seconds(5)) -> StepProcess {
        StepProcess(host: StepHost(command: [RunFolder.stepInit.string]), grace: grace)
    }

    private func command(_ words: [String]) -> StepCommand {
        StepCommand(
            arguments: words, workingDirectory: FilePath(RunFolder.current.workspace),
            environment: ["PATH": "/usr/bin:/bin"])
    }

    /// Runs a shell line and returns its end and its output.
    private func run(
        _ line: String, timeout: Duration = .seconds(60), stop: StopSignal = StopSignal(),
        on process: StepProcess? = nil
    ) async throws -> (end: ProcessEnd, output: [UInt8]) {
        let process = process ?? self.process()
        defer { _ = process.host.close() }
        let bytes = ByteList()
        let end = try await process.run(command(["/bin/sh", "-c", line]), timeout: timeout, stop: stop) {
            bytes.add($0)
        }
        return (end, bytes.bytes)
    }

    @Test(arguments: [0, 1, 7, 126, 127, 255]) func `exit codes are reported`(code: Int32) async throws {
        #expect(try await run("exit \(code)").end == ProcessEnd(exitCode: code))
    }

    @Test(arguments: [SIGKILL, SIGTERM, SIGSEGV, SIGABRT]) func `signals are reported`(signal: Int32) async throws {
        #expect(try await run("kill -\(signal) $$").end == ProcessEnd(signal: signal))
    }

    @Test func `both streams keep their order`() async throws {
        let output = try await run(
            "i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"
        ).output
        let expected = (0..<300).map { "o\($0)\ne\($0)\n" }.joined()
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test func `output bytes arrive unchanged`() async throws {
        let all = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
        try Data(all).write(to: URL(fileURLWithPath: RunFolder.current.workspace + "/bytes"))
        #expect(try await run("cat bytes").output == all)
    }

    @Test(arguments: [1, 65_536, 65_537, 1 << 20, 5_000_001])
    func `the last byte arrives even if the command ends at once`(count: Int) async throws {
        #expect(try await run("head -c \(count) /dev/zero").output.count == count)
    }

    @Test func `output of an orphan is not waited for`() async throws {
        let start = ContinuousClock().now
        let (end, output) = try await run("echo before; (sleep 60; echo after) & exit 4")
        #expect(end == ProcessEnd(exitCode: 4))
        #expect(output == Array("before\n".utf8))
        #expect(ContinuousClock().now - start < .seconds(30))
    }

    @Test func `a closed output does not end the step`() async throws {
        let (end, output) = try await run("exec >&- 2>&-; sleep 0.1; exit 5")
        #expect(end == ProcessEnd(exitCode: 5))
        #expect(output.isEmpty)
    }

    @Test func `standard input is empty`() async throws {
        #expect(try await run("cat; echo done").output == Array("done\n".utf8))
    }

    @Test func `a stop before the start starts nothing`() async throws {
        let stop = StopSignal()
        stop.stop(StopRequest(.cancelled, reason: "no"))
        let end = try await run("touch started", stop: stop).end
        #expect(end == ProcessEnd(stopped: StopRequest(.cancelled, reason: "no")))
        #expect(RunFolder.current.text("started") == nil)
    }

    @Test func `a command may clean up within the grace period`() async throws {
        let stop = StopSignal()
        let line = "trap 'echo cleaned > cleaned; exit 3' TERM; touch up; while :; do sleep 0.01; done"
        async let ended = run(line, stop: stop)
        try await eventually { RunFolder.current.text("up") != nil }
        stop.stop(StopRequest(.cancelled, reason: "no"))
        let end = try await ended.end
        #expect(end.exitCode == 3)
        #expect(end.stopped?.kind == .cancelled)
        #expect(!end.wasKilled)
        #expect(RunFolder.current.text("cleaned") == "cleaned\n")
    }

    @Test func `a time-out has a reason`() async throws {
        let end = try await run("sleep 60", timeout: .milliseconds(100)).end
        let request = StopRequest(.timedOut, reason: "it took longer than 100 ms")
        #expect(end == ProcessEnd(signal: SIGTERM, stopped: request))
    }

    @Test func `a slow reader makes the command wait`() async throws {
        let process = process()
        defer { _ = process.host.close() }
        let gate = DispatchSemaphore(value: 0)
        let isOpen = Mutex(false)
        let isReading = Mutex(false)
        async let end = process.run(
            command(["/bin/sh", "-c", "echo $$ > shell; head -c 3000000 /dev/zero; touch written"]),
            timeout: .seconds(60), stop: StopSignal()
        ) { _ in
            isReading.withLock { $0 = true }
            if !isOpen.withLock({ $0 }) { gate.wait() }
        }
        // The pipe and one read is all that can be taken before the reader goes on. `head` sleeps for nothing else.
        try await eventually("a full pipe") {
            guard isReading.withLock({ $0 }), let shell = RunFolder.current.text("shell")?.dropLast(),
                let head = try? String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8),
                let facts = try? String(contentsOfFile: "/proc/\(head.dropLast())/stat", encoding: .utf8)
            else { return false }
            return facts.contains("(head) S ")
        }
        #expect(RunFolder.current.text("written") == nil)
        isOpen.withLock { $0 = true }
        gate.signal()
        #expect(try await end == ProcessEnd(exitCode: 0))
        #expect(RunFolder.current.text("written") != nil)
    }

    @Test func `a host that a step killed is started again`() async throws {
        let process = process()
        defer { _ = process.host.close() }
        // The parent of the step's supervisor is the host.
        let end = try await process.run(
            command(["/bin/sh", "-c", "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep 0.05; exit 6"]),
            timeout: .seconds(60), stop: StopSignal()
        ) { _ in }
        #expect(end == ProcessEnd(exitCode: 6))
        let next = try await process.run(command(["/bin/true"]), timeout: .seconds(60), stop: StopSignal()) { _ in }
        #expect(next == ProcessEnd(exitCode: 0))
    }

    @Test func `a killed supervisor is reported and its processes are ended`() async throws {
        let marker = Marker()
        await #expect(throws: StepProcessProblem.lost) {
            _ = try await run("(setsid sleep \(marker.seconds) &); kill -9 $PPID; exec sleep \(marker.seconds)")
        }
        #expect(marker.survivors == [])
    }
}

/// Collects the output of a step.
final class ByteList: Sendable {
    private let list = Mutex<[UInt8]>([])
    var bytes: [UInt8] { list.withLock { $0 } }
    func add(_ buffer: UnsafeRawBufferPointer) { list.withLock { $0.append(contentsOf: buffer) } }
}
