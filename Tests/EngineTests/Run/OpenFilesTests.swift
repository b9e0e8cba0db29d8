import Foundation
@testable import Results
import Pipeline
import StepSlots
import Testing

@testable import Engine
import Sandbox
import TestSupport

@Suite(.runFolder, .timeLimit(.minutes(1))) struct OpenFilesTests {
    /// With 64 descriptors and 200 ready steps, the steps wait for each other and nothing traps.
    @Test func `few descriptors make steps wait`() async throws {
        let folder = RunFolder.current.root
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            await RunFolder.$current.withValue(RunFolder(root: folder)) {
                var limit = rlimit(rlim_cur: 64, rlim_max: 64)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let pool = SlotPool(slots: 100)
                let slots = pool.slots
                precondition(slots == 4)
                let outcome = await run((0..<200).map { .shell("s\($0)", "echo x") }, pool: pool)
                precondition(outcome.verdict == .passed, outcome.reason)
            }
        }
    }

    /// Without any free descriptor the step reports that, and the process survives.
    @Test func `a lack of descriptors is reported`() async throws {
        let folder = RunFolder.current.root
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            await RunFolder.$current.withValue(RunFolder(root: folder)) {
                let setting = RunFolder.current.setting()
                // No descriptor may be opened, whichever low numbers this process has closed.
                var limit = rlimit(rlim_cur: 0, rlim_max: 64)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let outcome = await run([.shell("s", "true")], setting: setting)
                precondition(outcome.verdict == .infrastructure)
                let reason = outcome["s"].reason ?? ""
                precondition(reason.contains("Too many open files"), reason)
            }
        }
    }

    @Test func `steps do not get the raised limit`() async throws {
        let folder = RunFolder.current.root
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            await RunFolder.$current.withValue(RunFolder(root: folder)) {
                var limit = rlimit(rlim_cur: 200, rlim_max: 2_000)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                precondition(OpenFiles.raiseLimit() == 2_000)
                let slots = SlotPool(slots: 1_000).slots
                precondition(slots == 234)
                let outcome = await run([.shell("s", "ulimit -Sn")])
                precondition(RunFolder.current.log(outcome["s"]) == "200\n", RunFolder.current.log(outcome["s"]))
            }
        }
    }
}
