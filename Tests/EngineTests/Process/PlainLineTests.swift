import Foundation
import Pipeline
import Testing

@testable import Engine

@Suite(.runFolder, .timeLimit(.minutes(1))) struct PlainLineTests {
    @Test(arguments: [
        ("swift build", ["swift", "build"]),
        (" make\t-j2  CC=cc all ", ["make", "-j2", "CC=cc", "all"]),
        ("./gradlew :app:test", ["./gradlew", ":app:test"]),
        ("npm i @scope/name@1.2+x,y 50%", ["npm", "i", "@scope/name@1.2+x,y", "50%"]),
    ])
    func wordsThatAShellWouldOnlyHandOn(line: String, words: [String]) {
        #expect(PlainLine.words(of: line) == words)
    }

    @Test(arguments: [
        "", "  ", "make && make test", "make; make test", "make & wait", "make | tee log", "make > log", "make <in",
        "echo $HOME", "make `x`", "ls *.c", "ls a?", "ls [ab]", "ls ~", "ls ~root/a", "make 'a b'", "make \"a\"",
        "make a\\ b",
        "CC=cc make", "make # all", "(make)", "{ make; }", "ls {a,b}", "! make", "make\nmake test", "make\n", "make\r",
        "make \u{e9}", "make \0", "make ^a", "%1", "ls =make", "cd a", "exit 3", "export A", ". ./env", ": a", "test a",
        "echo a", "time make", "exec make", "if make", "while make", "kill 1", "ulimit -n 5", "source env", "[ a ]",
    ])
    func aShellHasTheRest(line: String) { #expect(PlainLine.words(of: line) == nil) }

    #if os(Linux)
        /// The first process of an attempt leads its session.
        @Test func noShellIsInBetween() async throws {
            let outcome = await run([
                .shell("plain", "cat /proc/self/stat"), .shell("shell", "cat /proc/self/stat; true"),
            ])
            func leadsSession(_ step: String) throws -> Bool {
                let words = RunFolder.current.log(outcome[step]).split(separator: " ")
                return try #require(words.first) == (try #require(words.dropFirst(5).first))
            }
            #expect(try leadsSession("plain"))
            #expect(try !leadsSession("shell"))
        }
    #endif

    @Test func aProgramSeesWhatItSeesBehindAShell() async throws {
        try RunFolder.current.write("", to: "below/file")
        var seen: [Set<Substring>] = []
        for (name, line) in [("plain", "env"), ("shell", "env; :")] {
            var step = PlannedStep.shell("step", line)
            step.workingDirectory = "below"
            let outcome = await run([step], setting: RunFolder.current.setting(run: name))
            #expect(outcome.verdict == .passed)
            let lines = RunFolder.current.log(outcome["step"], run: name).split(separator: "\n")
            // What some shells set for themselves, and the folders that differ by the run.
            let own = ["_=", "SHLVL=", "OLDPWD=", "PIPECTL_"]
            seen.append(Set(lines.filter { line in !own.contains { line.hasPrefix($0) } }))
        }
        #expect(seen[0] == seen[1])
        #expect(seen[0].contains { $0.hasPrefix("PWD=") && $0.hasSuffix("/below") })
    }

    @Test func whatCannotBeStartedAShellSays() async throws {
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
        // Without "#!" it is the shell's to run.
        #expect(RunFolder.current.log(outcome["script"]) == "3 a\n")
    }

    @Test func aSignalIsTheExitCodeThatAShellGives() async throws {
        try RunFolder.current.write("#!/bin/sh\nkill -9 $$\n", to: "end")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: RunFolder.current.workspace + "/end")
        var step = PlannedStep.shell("end", "./end")
        step.retry = RetryPolicy(count: 1, condition: .exitCodes(137))
        let attempts = await run([step])["end"].attempts
        #expect(attempts.map(\.exitCode) == [137, 137])
        #expect(attempts.last?.signal == 9)
        #expect(attempts.last?.reason?.contains("signal 9") == true)
    }
}
