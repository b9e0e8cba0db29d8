import Engine
@testable import Results
import Foundation
import Pipeline
import Sandbox
import SystemPackage
import TestSupport
import Testing

/// Whether a run reports that all its processes have ended: only then may others use its user and caches.
@Suite(.runFolder, .timeLimit(.minutes(2))) struct AllEndedTests {
    @Test func `a run whose processes have ended says so`() async {
        let outcome = await run([.shell("s", "echo done; sleep 300 & exit 0")])
        #expect(outcome.verdict == .passed)
        #expect(outcome.isAllEnded)
    }

    @Test func `a run whose first process does not end says so`() async throws {
        // A test can't make a process hang in the kernel, so here the process that is waited for outlives stepinit.
        let folder = RunFolder.current
        let slow = folder.path("slow") + "/stepinit"
        let text = folder.path("text") + "/stepinit"
        try "#!/bin/sh\n\(RunFolder.stepInit.string) \"$@\"\nexec sleep 300\n".write(
            toFile: text, atomically: false, encoding: .utf8)
        // Another process copies it: a file that this process writes may be open in a process that another test is
        // starting, and until its execve the kernel refuses to run the file ("Text file busy").
        #expect(try await ExternalCommand("install", ["-m", "755", text, slow]).run().succeeded)
        var place = folder.localPlace()
        place.stepInit = FilePath(slow)
        let setting = folder.setting { $0.place = place }
        let outcome = await run([.shell("s", "echo done")], setting: setting)
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(!outcome.isAllEnded)
    }
}
