import TestBasics
import Concurrency
import Foundation
import Masking
import Pipeline
import Sandbox
import Synchronization
import SystemPackage
import TestSupport
import StepSlots
import Testing

@testable import Engine
@testable import Results

/// A run on another machine comes to the same report as one on this machine.
@Suite(
    .runFolder, .enabled(if: OtherMachine.isPossible, "python3 is the other machine of these tests"),
    .timeLimit(.minutes(2)))
struct OtherMachineTests {
    /// What a run leaves, without times and places.
    struct Left {
        var outcome: RunOutcome
        var logs: [String: String]
        var files: [String: Data]
    }

    private let junit = """
        <testsuite name="s"><testcase classname="C" name="good"/>
        <testcase classname="C" name="bad"><failure message="1 is not 2"/></testcase></testsuite>
        """

    /// A commit with two files, as a folder and as a tar file.
    private func commit() async throws -> (folder: String, tar: String) {
        let room = RunFolder.current
        let (repository, tar) = (room.path("repository"), room.path("commit") + "/files.tar")
        let line = """
            git init -q . && mkdir src && echo 'int x' > src/a.c && printf '#!/bin/sh\\necho tool\\n' > tool \
            && chmod 755 tool && git add -A && git -c user.name=a -c user.email=a@b commit -qm one \
            && git archive -o \(tar) HEAD && tar -xf \(tar) -C \(room.workspace)
            """
        let made = try await ExternalCommand("sh", ["-c", line], in: repository).run()
        try #require(made.succeeded, "\(made.text)")
        return (room.workspace, tar)
    }

    private func machine(_ tar: String, begun: @escaping @Sendable (Child) -> Void = { _ in }) -> OtherMachine {
        OtherMachine(commit: tar, folder: RunFolder.current.path("machines"), begun: begun)
    }

    /// Runs the plan here and there; returns what each run left.
    private func both(
        _ plan: Plan, _ tar: String, change: (inout RunSetting) -> Void = { _ in }
    ) async throws -> (here: Left, there: Left) {
        var left: [Left] = []
        for (name, place) in [("here", nil), ("there", machine(tar) as (any RunPlace)?)] {
            var setting = RunFolder.current.setting(grace: .seconds(1), run: name)
            if let place { setting.place = place }
            change(&setting)
            let outcome = await Runner(setting: setting, pool: SlotPool(slots: 2)) { _ in }.run(
                plan, stop: StopSignal())
            left.append(try self.left(outcome, name))
        }
        return (left[0], left[1])
    }

    private func left(_ outcome: RunOutcome, _ run: String) throws -> Left {
        var (outcome, logs, files) = (outcome, [String: String](), [String: Data]())
        for step in outcome.steps.indices {
            for attempt in outcome.steps[step].attempts.indices {
                if let log = outcome.steps[step].attempts[attempt].log {
                    let path = RunFolder.current.path(run) + "/logs/" + log.file
                    logs[log.file] = try String(contentsOfFile: path, encoding: .utf8)
                }
                outcome.steps[step].attempts[attempt].startedAt = .distantPast
                outcome.steps[step].attempts[attempt].endedAt = nil
            }
        }
        for name in outcome.resultFiles.map({ "results/\($0)" }) + outcome.artifacts.map({ "artifacts/\($0.sha256)" }) {
            files[name] = FileManager.default.contents(atPath: RunFolder.current.path(run) + "/" + name)
        }
        return Left(outcome: outcome, logs: logs, files: files)
    }

    private var plan: Plan {
        let steps: [PlannedStep] = [
            .shell(
                "build",
                """
                mkdir -p out/void; ./tool > out/a; cp tool out/b; ln -s a out/link
                printf '"1.2"' > "$PIPECTL_VALUES_OUT/version.json"; echo built
                """
            ) {
                $0.outputs = ["out/**"]
                $0.artifacts = ["out/a", "out/b"]
                $0.publishes = ["version"]
            },
            .shell(
                "test",
                """
                cat out/link "$PIPECTL_VALUES_IN/version.json"; cat > results.xml <<'X'
                \(junit)
                X
                echo 'src/a.c:1:5: error: expected ;'; exit 3
                """, needs: ["build"]
            ) {
                $0.testResults = [.junit("*.xml")]
                $0.findings = [.output]
            },
            .shell("flaky", "test $PIPECTL_ATTEMPT = 2") { $0.retry = RetryPolicy(count: 1) },
            .shell("secret", "echo $TOKEN; cat $KEY_FILE; pwd | grep -c workspace", needs: ["build"]) {
                $0.secrets = [SecretUse("TOKEN", as: .environment), SecretUse("KEY")]
            },
            .shell("inside", "cat a.c", needs: ["build"]) { $0.workingDirectory = "src" },
            PlannedStep(name: "absent", action: .command(["/nonexistent/program"]), needs: ["build"]),
            .shell("nothing", "true", needs: ["build"]) { $0.artifacts = ["no/such/*"] },
            .shell("unpublished", "true", needs: ["build"]) { $0.publishes = ["gone"] },
            .shell("large", "head -c 9000 /dev/zero > large", needs: ["build"]) { $0.limits.fileSize = 4096 },
            .shell("chatty", "yes | head -c 2000000; sleep 20", needs: ["build"]) { $0.limits.output = 100_000 },
            .shell("slow", "echo begun; sleep 20", needs: ["build"]) { $0.timeout = 0.5 },
            .shell("never", "true", needs: ["test"]),
            .shell("always", "ls out/a", needs: ["never"]) { $0.condition = .always },
        ]
        return Plan(workflow: "w", steps: steps)
    }

    @Test func `the report is the same on both machines`() async throws {
        let (_, tar) = try await commit()
        let secrets = RunSecrets([
            Secret(name: "TOKEN", bytes: Array("t0p-secret-token".utf8)),
            Secret(name: "KEY", bytes: Array("another-secret-value\n".utf8)),
        ])
        let key = StepKey(value: String(repeating: "a", count: 64), definition: "d", parts: [:])
        var (here, there) = try await both(plan, tar) {
            $0.secrets = secrets
            $0.keys = ["build": key]
        }
        // How much of it was printed before the limit ended the step is a matter of time.
        for name in ["chatty"] {
            for step in here.outcome.steps.indices where here.outcome.steps[step].name == name {
                let file = here.outcome.steps[step].attempts[0].log?.file ?? ""
                (here.logs[file], there.logs[file]) = (nil, nil)
                here.outcome.steps[step].attempts[0].log = nil
                there.outcome.steps[step].attempts[0].log = nil
            }
        }
        for step in here.outcome.steps { #expect(step == there.outcome[step.name]) }
        #expect(here.logs == there.logs)
        #expect(here.files == there.files)
        #expect(here.outcome.tests == there.outcome.tests)
        #expect(Set(here.outcome.findings.map { "\($0)" }) == Set(there.outcome.findings.map { "\($0)" }))
        #expect(Set(here.outcome.artifacts.map(\.path)) == Set(there.outcome.artifacts.map(\.path)))
        #expect(here.outcome.verdict == there.outcome.verdict && here.outcome.reason == there.outcome.reason)
        #expect(here.outcome.isAllEnded && there.outcome.isAllEnded)

        let statuses = Dictionary(uniqueKeysWithValues: there.outcome.steps.map { ($0.name, $0.status) })
        #expect(
            statuses == [
                "build": .passed, "test": .failed, "flaky": .passed, "secret": .passed, "inside": .passed,
                "absent": .failed, "nothing": .failed, "unpublished": .failed, "large": .failed, "chatty": .failed,
                "slow": .timedOut, "never": .skipped, "always": .passed,
            ])
        #expect(there.outcome.tests.map(\.status) == [.passed, .failed])
        #expect(there.outcome["build"].outputs?.files == 3)
    }

    /// Outputs that were stored by a run here are put into the workspace there, and the other way round.
    @Test(arguments: [false, true]) func `stored outputs are restored on the other machine`(_ isBack: Bool) async throws
    {
        let (folder, tar) = try await commit()
        let key = StepKey(value: String(repeating: "a", count: 64), definition: "d", parts: [:])
        let build = PlannedStep.shell("build", "mkdir -p out/void; echo made > out/a; ln -s a out/l; ./tool > out/t") {
            $0.outputs = ["out/**"]
        }
        var first = RunFolder.current.setting(run: "first") { $0.keys = ["build": key] }
        if isBack { first.place = machine(tar) }
        let made = await run([build], setting: first)
        let outputs = try #require(made["build"].outputs, "\(made.findings)")
        let proved = ProvedStep(
            citation: ProofCitation(run: 7, attempt: 1, step: "build"), key: key,
            restores: StoredOutputs(
                path: "\(RunFolder.current.path("first"))/artifacts/\(outputs.sha256)", sha256: outputs.sha256))
        if !isBack { try FileManager.default.removeItem(atPath: "\(folder)/out") }
        var second = RunFolder.current.setting(run: "second") { $0.proved = ["build": proved] }
        if !isBack { second.place = machine(tar) }
        let use = PlannedStep.shell("use", "cat out/l out/t; test -d out/void", needs: ["build"])
        let outcome = await run([build, use], setting: second)
        #expect(outcome.verdict == .passed, "\(outcome.findings)")
        #expect(outcome["build"].provedBy?.run == 7)
        #expect(RunFolder.current.log(outcome["use"], run: "second") == "made\ntool\n")
    }

    @Test func `a stopped run ends its steps there`() async throws {
        let (_, tar) = try await commit()
        let (stop, events) = (StopSignal(), EventList())
        let setting = RunFolder.current.setting(grace: .milliseconds(300)) { $0.place = machine(tar) }
        async let running = run(
            [
                .shell("stubborn", "trap '' TERM; echo begun; while :; do sleep 0.05; done"),
                .shell("after", "true", needs: ["stubborn"]),
            ], setting: setting, stop: stop, events: events)
        try await events.wait { if case .stepOutput = $0 { true } else { false } }
        stop.stop(StopRequest(.superseded, reason: "a newer push came"))
        let outcome = await running
        #expect(outcome.verdict == .superseded)
        #expect(outcome["stubborn"].status == .cancelled)
        #expect(outcome["stubborn"].reason?.contains("was killed") == true)
        #expect(outcome["after"].attempts.isEmpty)
        #expect(outcome.isAllEnded)
    }

    private let dies = "if [ $PIPECTL_ATTEMPT = 1 ]; then kill -9 $PPID; sleep 20; fi; ./tool"

    @Test func `a machine that dies is an infrastructure failure`() async throws {
        let (_, tar) = try await commit()
        let setting = RunFolder.current.setting { $0.place = machine(tar) }
        let outcome = await run(
            [.shell("first", "true"), .shell("s", dies, needs: ["first"]), .shell("after", "true", needs: ["s"])],
            setting: setting)
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["first"].status == .passed)
        #expect(outcome["s"].status == .infrastructure)
        #expect(outcome["after"].attempts.isEmpty)
    }

    @Test func `another attempt runs on another machine`() async throws {
        let (_, tar) = try await commit()
        let machines = Mutex(0)
        let place = machine(tar) { _ in machines.withLock { $0 += 1 } }
        let step = PlannedStep.shell("s", dies) { $0.retry = RetryPolicy(count: 1, condition: .infrastructure) }
        let outcome = await run([step], setting: RunFolder.current.setting { $0.place = place })
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(outcome["s"].attempts.map(\.status) == [.infrastructure, .passed])
        #expect(RunFolder.current.log(outcome["s"], attempt: 2) == "tool\n")
        #expect(machines.withLock { $0 } == 2)
    }

    /// Nobody knows what a step has done whose machine died: a person decides whether it is run again.
    @Test func `a step with effects is not run again after its machine died`() async throws {
        let (_, tar) = try await commit()
        let step = PlannedStep.shell("s", dies) { $0.retry = RetryPolicy(count: 1, condition: .infrastructure) }
        let setting = RunFolder.current.setting {
            $0.place = machine(tar)
            $0.journal = StepJournal(begin: { _ in }, end: { _, _ in })
        }
        let outcome = await run([step], setting: setting)
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].attempts.count == 1)
    }

    @Test func `a machine that cannot start is an infrastructure failure`() async throws {
        let setting = RunFolder.current.setting { $0.place = Unreachable() }
        let outcome = await run([.shell("s", "true")], setting: setting)
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].status == .infrastructure && outcome["s"].attempts.isEmpty)
    }

    private struct Unreachable: RunPlace {
        func open<Value: Sendable>(
            for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
        ) async throws -> (value: Value, isAllEnded: Bool) {
            throw PlaceProblem(reason: "the machine can't be reached", mayHaveActed: false)
        }
    }
}
