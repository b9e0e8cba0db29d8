import Foundation
@testable import Results
import Pipeline
import SystemPackage
import Testing

@testable import Engine
import TestSupport

/// What steps see, and the values that they pass on.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerValuesTests {
    @Test func `the environment has the step's own variables`() async throws {
        let base = RunSetting.baseEnvironment([
            "PATH": "/usr/bin:/bin", "HOME": "/home/x", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "leak",
            "GITHUB_TOKEN": "leak", "SSH_AUTH_SOCK": "/leak", "LD_PRELOAD": "leak",
        ])
        let outcome = await run(
            [.shell("a step", "env | sort") { $0.environment = ["COLOUR": "blue", "HOME": "/home/y"] }],
            setting: RunFolder.current.setting(environment: base))
        let lines = RunFolder.current.log(outcome["a step"]).split(separator: "\n").map(String.init)
        // The shell adds PWD, and some add _ and SHLVL.
        let names = Set(lines.compactMap { $0.split(separator: "=").first.map(String.init) })
        #expect(
            names.subtracting(["PWD", "OLDPWD", "_", "SHLVL"]) == [
                "PATH", "HOME", "LC_ALL", "CI", "COLOUR", "PIPECTL_STEP", "PIPECTL_WORKSPACE", "PIPECTL_ATTEMPT",
                "PIPECTL_VALUES_IN",
            ])
        for line in ["CI=true", "COLOUR=blue", "HOME=/home/y", "PIPECTL_STEP=a step", "PIPECTL_ATTEMPT=1"] {
            #expect(lines.contains(line))
        }
    }

    @Test func `no descriptor of pipectl reaches a step`() async throws {
        let outcome = await run([.shell("s", "ls -l /proc/self/fd | sed 's/.* -> //' | sed 1d; ulimit -c >/dev/null")])
        let files = RunFolder.current.log(outcome["s"]).split(separator: "\n").filter { !$0.hasPrefix("/proc/") }
        #expect(files.allSatisfy { $0 == "/dev/null" || $0.hasPrefix("pipe:") }, "\(files)")
        #expect(Set(files.filter { $0.hasPrefix("pipe:") }).count <= 2)
    }

    @Test func `hostile names never reach a shell`() async throws {
        let name = "$(touch pwned); `touch pwned` && \"'\u{7}"
        let outcome = await run([
            PlannedStep(name: name, action: .command(["/bin/echo", "$(touch pwned)", "a;b", "*"])),
            .shell("reads it", "printf '%s' \"$TITLE\"") { $0.environment = ["TITLE": "$(touch pwned)`touch pwned`"] },
        ])
        #expect(outcome.verdict == .passed)
        #expect(RunFolder.current.text("pwned") == nil)
        #expect(RunFolder.current.log(outcome[name]) == "$(touch pwned) a;b *\n")
        #expect(RunFolder.current.log(outcome["reads it"]) == "$(touch pwned)`touch pwned`")
    }

    @Test func `a missing command is reported`() async {
        let outcome = await run([PlannedStep(name: "s", action: .command(["no-such-program", "x"]))])
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].attempts.first?.exitCode == 127)
        #expect(
            outcome["s"].reason
                == "\"no-such-program\" can't be started: No such file or directory; is it installed, and in the step's PATH?"
        )
        #expect(RunFolder.current.log(outcome["s"]).hasPrefix("pipectl: \"no-such-program\" can't be started"))
    }

    @Test func `a file that is not a program is reported`() async throws {
        try RunFolder.current.write("text", to: "file")
        let outcome = await run([PlannedStep(name: "s", action: .command(["./file"]))])
        #expect(outcome["s"].attempts.first?.exitCode == 126)
        #expect(outcome["s"].reason == "\"./file\" can't be started: Permission denied")
    }

    @Test func `a missing working directory is reported`() async {
        let outcome = await run([.shell("s", "true") { $0.workingDirectory = "not/there" }])
        #expect(outcome.verdict == .failed)
        #expect(
            outcome["s"].reason
                == "its working directory \"not/there\" can't be entered: No such file or directory; it must exist when the step starts"
        )
    }

    @Test func `the working directory is below the workspace`() async throws {
        try RunFolder.current.write("", to: "sub/folder/x")
        let outcome = await run([.shell("s", "touch here") { $0.workingDirectory = "sub/folder" }])
        #expect(outcome.verdict == .passed)
        #expect(RunFolder.current.text("sub/folder/here") != nil)
    }

    @Test func `a NUL byte is refused`() async {
        let outcome = await run([PlannedStep(name: "s", action: .command(["echo", "a\0b"]))])
        #expect(outcome["s"].status == .failed)
        #expect(outcome["s"].reason?.contains("NUL") ?? false)
    }

    @Test func `arguments of any length arrive or are refused`() async {
        let long = String(repeating: "x", count: 100_000)
        let outcome = await run([
            PlannedStep(
                name: "long", action: .command(["/bin/sh", "-c", "printf %s \"$*\" | wc -c", "sh", long, long, long])),
            PlannedStep(name: "too long", action: .command(["/bin/echo"] + Array(repeating: long, count: 100))),
        ])
        #expect(RunFolder.current.log(outcome["long"]) == "300002\n")
        #expect(outcome["too long"].reason?.contains("Argument list too long") ?? false)
    }

    @Test func `a closure runs by the command of the setting`() async {
        let outcome = await run([PlannedStep(name: "s", action: .closure)])
        #expect(RunFolder.current.log(outcome["s"]) == "closure s\n")
    }

    @Test func `values pass from step to step`() async {
        let outcome = await run([
            .shell("version", "echo '\"1.2\"' > $PIPECTL_VALUES_OUT/version.json") { $0.publishes = ["version"] },
            .shell("use", "cat $PIPECTL_VALUES_IN/version.json", needs: ["version"]) { $0.reads = ["version"] },
        ])
        #expect(outcome.verdict == .passed)
        #expect(RunFolder.current.log(outcome["use"]) == "\"1.2\"\n")
    }

    @Test(arguments: [
        ("true", "it declares .publishes(\"v\") but did not publish it: write $PIPECTL_VALUES_OUT/v.json"),
        ("echo 1.2.3 > $PIPECTL_VALUES_OUT/v.json", "what it published as \"v\" is not JSON; a text needs quotes"),
        (
            "ln -s /etc/hostname $PIPECTL_VALUES_OUT/v.json",
            "what it published as \"v\" can't be read: v.json can't be collected: it is a link"
        ),
        (
            "mkfifo $PIPECTL_VALUES_OUT/v.json",
            "what it published as \"v\" can't be read: v.json can't be collected: it is not a regular file"
        ),
    ])
    func aValueThatIsNotThereFailsTheStep(line: String, reason: String) async {
        let outcome = await run([.shell("s", line) { $0.publishes = ["v"] }])
        #expect(outcome["s"].status == .failed)
        #expect(outcome["s"].reason == reason)
    }

    @Test func `a value of an earlier attempt is not used`() async {
        let outcome = await run([
            .shell("s", "[ $PIPECTL_ATTEMPT = 2 ] || { echo 1 > $PIPECTL_VALUES_OUT/v.json; exit 1; }") {
                $0.publishes = ["v"]
                $0.retry = RetryPolicy(count: 1)
            }
        ])
        #expect(outcome["s"].attempts.map(\.status) == [.failed, .failed])
        #expect(outcome["s"].reason?.contains("did not publish it") ?? false)
    }

    @Test func `lines of output are events`() async {
        let events = EventList()
        _ = await run([.shell("s", "echo one; printf '\\033[31mtwo\\033[0m\\n'")], events: events)
        let last = events.events.last { if case .stepOutput = $0 { true } else { false } }
        guard case .stepOutput("s", 1, let line, _) = last else {
            Issue.record("no output was told")
            return
        }
        #expect(line == "two")
    }
}
