import Engine
@testable import Results
import Foundation
import Pipeline
import Sandbox
import SystemPackage
import TestSupport
import Testing

/// Whether a run says of itself that nothing of it can be alive: only then are its user and caches given to others.
@Suite(.runFolder, .timeLimit(.minutes(2))) struct AllEndedTests {
    @Test func `a run whose processes have ended says so`() async {
        let outcome = await run([.shell("s", "echo done; sleep 300 & exit 0")])
        #expect(outcome.verdict == .passed)
        #expect(outcome.isAllEnded)
    }

    @Test func `a run whose first process does not end says so`() async throws {
        // What hangs in the kernel can't be made by a test: here the process that is waited for outlives stepinit.
        let folder = RunFolder.current
        let slow = folder.path("slow") + "/stepinit"
        let text = folder.path("text") + "/stepinit"
        try "#!/bin/sh\n\(RunFolder.stepInit.string) \"$@\"\nexec sleep 300\n".write(
            toFile: text, atomically: false, encoding: .utf8)
        // By another process: what this one writes to, a process that another test starts has open until its execve, and
        // until then the kernel says "Text file busy" to whoever would run it.
        #expect(try await ExternalCommand("install", ["-m", "755", text, slow]).run().succeeded)
        var setting = folder.setting()
        setting.stepInit = FilePath(slow)
        let outcome = await run([.shell("s", "echo done")], setting: setting)
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(!outcome.isAllEnded)
    }
}
