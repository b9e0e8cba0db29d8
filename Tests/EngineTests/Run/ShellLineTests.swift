import Foundation
@testable import Results
import Pipeline
import TestSupport
import Testing

@Suite(.runFolder, .timeLimit(.minutes(1))) struct ShellLineTests {
    @Test func `the shell reports a command that it can't start`() async throws {
        try RunFolder.current.write("echo $((1 + 2)) $1", to: "script")
        try RunFolder.current.write("echo never", to: "closed")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: RunFolder.current.workspace + "/script")
        let outcome = await run([
            .shell("missing", "no-such-program -a"), .shell("closed", "./closed a"), .shell("script", "./script a"),
            .shell("folder", "/"),
        ])
        #expect(outcome["missing"].attempts.last?.exitCode == 127)
        #expect(RunFolder.current.log(outcome["missing"]).contains("no-such-program"))
        #expect(outcome["closed"].attempts.last?.exitCode == 126)
        #expect(RunFolder.current.log(outcome["closed"]).contains("./closed"))
        #expect(outcome["folder"].attempts.last?.exitCode == 126)
        // The shell runs a file without "#!" itself.
        #expect(RunFolder.current.log(outcome["script"]) == "3 a\n")
    }

    @Test func `a signal gives the exit code that a shell reports`() async throws {
        try RunFolder.current.write("#!/bin/sh\nkill -9 $$\n", to: "end")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: RunFolder.current.workspace + "/end")
        var step = PlannedStep.shell("end", "./end")
        step.retry = RetryPolicy(count: 1, condition: .exitCodes(137))
        let attempts = await run([step])["end"].attempts
        #expect(attempts.map(\.exitCode) == [137, 137])
        #expect(attempts.last?.reason?.contains("signal 9") == true)
    }
}
