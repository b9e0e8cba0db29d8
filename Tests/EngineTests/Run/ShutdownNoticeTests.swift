import Concurrency
import Synchronization
import Testing

@testable import Engine
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct ShutdownNoticeTests {
    private static let byTerm = ProcessEnd(signal: SIGTERM)
    private static let asked = ProcessEnd(signal: SIGTERM, stopped: StopRequest(.cancelled, reason: "cancelled"))

    @Test func `only a SIGTERM that nobody requested counts as a shutdown`() {
        #expect(ShutdownNotice.mayBeOfShutdown(.success(Self.byTerm)))
        #expect(ShutdownNotice.mayBeOfShutdown(.success(ProcessEnd(exitCode: 143))))
        #expect(ShutdownNotice.mayBeOfShutdown(.failure(StepProcessProblem.lost)))
        #expect(!ShutdownNotice.mayBeOfShutdown(.success(Self.asked)))
        #expect(!ShutdownNotice.mayBeOfShutdown(.success(ProcessEnd(exitCode: 0))))
        #expect(!ShutdownNotice.mayBeOfShutdown(.success(ProcessEnd(exitCode: 1))))
        #expect(!ShutdownNotice.mayBeOfShutdown(.success(ProcessEnd(signal: SIGKILL))))
        #expect(!ShutdownNotice.mayBeOfShutdown(.failure(StepProcessProblem.nulByte)))
    }

    @Test func `a compiler that a SIGTERM ended may have been shut down, one that refuses the code was not`() {
        func ended(_ ending: ExternalCommandResult.Ending, _ text: String = "") -> Bool {
            ShutdownNotice.mayBeOfShutdown(
                ExternalCommandResult(ending: ending, output: Array(text.utf8), droppedBytes: 0))
        }
        #expect(ended(.signal(SIGTERM)))
        #expect(ended(.exited(143)))
        #expect(ended(.exited(1), "error: compile command failed due to signal 15 (use -v to see invocation)"))
        #expect(!ended(.exited(1), "x.swift:3: error: cannot find 'a' in scope"))
        #expect(!ended(.signal(SIGSEGV)))
        #expect(!ended(.deadline(.seconds(1))))
        #expect(!ended(.exited(0)))
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    private func leaves(_ end: ProcessEnd, told: Bool) async -> Bool {
        let flag = Flag()
        let notice = ShutdownNotice(patience: .milliseconds(1)) { flag.isSet.withLock { $0 = true } }
        if told { notice.tell() }
        await notice.leaveIfTold(after: .success(end))
        return flag.isSet.withLock { $0 }
    }

    @Test func `the process ends only if that is requested`() async {
        #expect(await leaves(Self.byTerm, told: true))
        #expect(await !leaves(Self.byTerm, told: false), "a step may end itself so")
        #expect(await !leaves(ProcessEnd(exitCode: 1), told: true), "a failure is one, also while the box drains")
    }
}
