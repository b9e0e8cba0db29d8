import Foundation
import Pipeline
import SystemPackage
import Testing

@testable import Engine

/// Whether a run says of itself that nothing of it can be alive: only then are its user and caches given to others.
@Suite(.runFolder, .timeLimit(.minutes(2))) struct AllEndedTests {
    @Test func aRunWhoseProcessesAreGoneSaysSo() async {
        let outcome = await run([.shell("s", "echo done; sleep 300 & exit 0")])
        #expect(outcome.verdict == .passed)
        #expect(outcome.isAllEnded)
    }

    @Test func aRunWhoseFirstProcessDoesNotEndSaysThatToo() async throws {
        // What hangs in the kernel can't be made by a test: here the process that is waited for outlives stepinit.
        let folder = RunFolder.current
        let slow = folder.path("slow") + "/stepinit"
        try "#!/bin/sh\n\(RunFolder.stepInit.string) \"$@\"\nexec sleep 300\n".write(
            toFile: slow, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: slow)
        var setting = folder.setting()
        setting.stepInit = FilePath(slow)
        let outcome = await run([.shell("s", "echo done")], setting: setting)
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(!outcome.isAllEnded)
    }
}
