import Engine
import Foundation
import Pipeline
import SystemPackage
import Testing

@testable import Results
import TestSupport

/// A disk that is full while a step prints. `RLIMIT_FSIZE` simulates it: a file can't grow beyond the limit.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct LogWriterDiskTests {
    @Test func `a full disk neither blocks nor goes unreported`() async throws {
        let folder = RunFolder.current.root
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            await RunFolder.$current.withValue(RunFolder(root: folder)) {
                let setting = RunFolder.current.setting()
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 10_000, rlim_max: rlim_t.max)
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let outcome = await run([.shell("s", "head -c 3000000 /dev/zero; echo; echo end")], setting: setting)
                precondition(outcome.verdict == .infrastructure, outcome.reason)
                let reason = outcome["s"].reason ?? ""
                precondition(
                    reason
                        == "its log could not be written: File too large. Check the state folder's disk, then rerun.",
                    reason)
                let log = outcome["s"].attempts.first?.log
                precondition(log == LogRecord(file: "001-1.log", bytes: 3_000_005, droppedBytes: 2_990_005))
                precondition(RunFolder.current.log(outcome["s"]).utf8.count == 10_000)
                // The disk has space again, and the next run is unaffected.
                limit.rlim_cur = rlim_t.max
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let next = await run([.shell("s", "echo fine")], setting: RunFolder.current.setting(run: "next"))
                precondition(next.verdict == .passed)
            }
        }
    }

    /// A real full disk, if the test may mount one.
    @Test func `a full file system is an infrastructure failure`() async throws {
        let mountPoint = RunFolder.current.path("disk")
        guard mount("none", mountPoint, "tmpfs", 0, "size=256k") == 0 else { return }
        defer { umount2(mountPoint, Int32(MNT_DETACH)) }
        let outcome = await run(
            [.shell("s", "head -c 3000000 /dev/zero")],
            setting: RunFolder.current.setting { $0.folder = FilePath(mountPoint) })
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].reason?.hasPrefix("disk full: its log could not be written") ?? false)
        #expect(outcome["s"].attempts.first?.exitCode == 0)
        let log = try #require(outcome["s"].attempts.first?.log)
        #expect(log.bytes == 3_000_000)
        let kept = FileManager.default.contents(atPath: mountPoint + "/logs/" + log.file)?.count
        #expect(kept == log.bytes - log.droppedBytes)
    }
}
