import TestBasics
import Foundation
import Pipeline
import SystemPackage
import Testing

@testable import Results
@testable import Engine
import TestSupport

/// Proved steps in a run with real processes.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerProofTests {
    static let key = StepKey(value: String(repeating: "a", count: 64), definition: "d", parts: [:])

    private func build(_ line: String = "mkdir -p out; echo made > out/a") -> PlannedStep {
        .shell("build", line) { $0.outputs = ["out/**"] }
    }

    /// Runs the step once, like the run whose report proves it.
    private func made(_ step: PlannedStep, change: (inout RunSetting) -> Void = { _ in }) async -> RunOutcome {
        await run(
            [step],
            setting: RunFolder.current.setting(run: "first") {
                $0.keys = [step.name: Self.key]
                change(&$0)
            })
    }

    private func proof(_ record: StepRecord) throws -> ProvedStep {
        let outputs = try #require(record.outputs)
        return ProvedStep(
            citation: ProofCitation(run: 7, attempt: 1, step: record.name), key: try #require(record.key),
            restores: StoredOutputs(
                path: RunFolder.current.path("first/artifacts") + "/" + outputs.sha256, sha256: outputs.sha256))
    }

    @Test func `outputs of a proved step are there for the step that needs them`() async throws {
        let room = RunFolder.current
        let first = await made(build())
        #expect(first["build"].outputs?.files == 1)
        try FileManager.default.removeItem(atPath: room.workspace + "/out")
        let use = PlannedStep.shell("use", "cat out/a", needs: ["build"])
        let proved = try proof(first["build"])
        let events = EventList()
        let outcome = await run(
            [build("echo must not run; exit 1"), use],
            setting: room.setting { $0.proved = ["build": proved] }, events: events)
        #expect(outcome.verdict == .passed)
        #expect(outcome.reason == "2 of 2 steps passed, 1 proved by run 7")
        #expect(outcome["build"].provedBy?.run == 7)
        #expect(outcome["build"].attempts.isEmpty)
        #expect(room.log(outcome["use"]) == "made\n")
        #expect(
            !events.events.contains {
                if case .stepStarted("build", _, _, _) = $0 { true } else { false }
            })
    }

    /// Also if a step between them removed the outputs of an earlier one.
    @Test func `only outputs of a proved step are there`() async throws {
        let room = RunFolder.current
        let first = PlannedStep.shell("first", "mkdir -p out; echo a > out/a; echo b > out/b") {
            $0.outputs = ["out/**"]
        }
        let second = PlannedStep.shell("second", "rm out/b; mkdir out/void", needs: ["first"]) {
            $0.outputs = ["out/**"]
        }
        let made = await run(
            [first, second],
            setting: room.setting(run: "first") { $0.keys = ["first": Self.key, "second": Self.key] })
        let proved = try ["first", "second"].map { try proof(made[$0]) }
        try FileManager.default.removeItem(atPath: "\(room.workspace)/out/void")
        try room.write("of an earlier run", to: "out/stale")
        let use = PlannedStep.shell("use", "find out | LC_ALL=C sort", needs: ["second"])
        let outcome = await run(
            [first, second, use], setting: room.setting { $0.proved = ["first": proved[0], "second": proved[1]] })
        #expect(outcome.verdict == .passed && outcome["second"].provedBy != nil)
        #expect(room.log(outcome["use"]) == "out\nout/a\nout/void\n")
    }

    @Test func `a step whose stored outputs are damaged is run`() async throws {
        let room = RunFolder.current
        let first = await made(build())
        let proved = try proof(first["build"])
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: try #require(proved.restores).path))
        let outcome = await run(
            [build("echo ran")], setting: room.setting { $0.proved = ["build": proved] })
        #expect(outcome["build"].provedBy == nil)
        #expect(room.log(outcome["build"]) == "ran\n")
        #expect(outcome.findings.contains { $0.rule == "outputs" && $0.message.contains("although run 7 proves it") })
    }

    @Test func `only a step that passed at once is a proof`() async throws {
        let failed = await made(.shell("s", "exit 1"))
        #expect(failed["s"].key == nil)
        let second = PlannedStep.shell("s", "test -e tried || { touch tried; exit 1; }") {
            $0.retry = RetryPolicy(count: 1)
        }
        let flaky = await made(second)
        #expect(flaky.verdict == .flaky && flaky["s"].key == nil)
        let lucky = PlannedStep.shell(
            "s",
            "echo '<testsuite><testcase name=\"t\"><failure/></testcase></testsuite>' > r.xml"
        ) { $0.testResults = [.junit("r.xml")] }
        let outcome = await made(lucky)
        #expect(outcome["s"].status == .passed && outcome.tests.count == 1)
        #expect(outcome["s"].key == nil, "a test failed, whatever the exit code says")
        #expect(await made(.shell("s", "true"))["s"].key == Self.key)
        let allowed = await made(.shell("s", "exit 1") { $0.allowsFailure = true })
        #expect(allowed.verdict == .passed && allowed["s"].key == nil)
    }

    @Test func `a step after an allowed failure is no proof`() async {
        let key = Self.key
        func outcome(_ first: String) async -> RunOutcome {
            await run(
                [
                    .shell("generate", first) { $0.allowsFailure = true },
                    .shell("gate", "true", needs: ["generate"]) { $0.condition = .always },
                    .shell("use", "true", needs: ["gate"]) {
                        ($0.condition, $0.outputs) = (.always, ["made"])
                    },
                ],
                setting: RunFolder.current.setting { $0.keys = ["generate": key, "gate": key, "use": key] })
        }
        let failed = await outcome("exit 1")
        #expect(failed["use"].status == .passed && failed["gate"].status == .passed)
        #expect(failed["gate"].key == nil && failed["use"].key == nil && failed["use"].outputs == nil)
        let passed = await outcome("true")
        #expect(passed["gate"].key == key && passed["use"].key == key)
    }

    @Test func `withheld variables are not given to the step`() async throws {
        let outcome = await run(
            [.shell("a", "echo \"[$SEEN]\""), .shell("b", "echo \"[$SEEN]\"")],
            setting: RunFolder.current.setting {
                $0.environment["SEEN"] = "yes"
                $0.withheld = ["a": ["SEEN"]]
            })
        #expect(RunFolder.current.log(outcome["a"]) == "[]\n")
        #expect(RunFolder.current.log(outcome["b"]) == "[yes]\n")
    }

    @Test(arguments: [
        ("true", "no file matches out/**"), ("mkdir out; ln -s /etc/passwd out/a", "is a link"),
        ("mkdir out; head -c 3000 /dev/zero > out/a", "larger than 2,000 bytes"),
    ])
    func outputsThatCannotBeKeptFailNothing(line: String, says: String) async throws {
        let outcome = await made(build(line)) { $0.outputLimit = 2_000 }
        #expect(outcome.verdict == .passed)
        #expect(outcome["build"].key == Self.key, "it is proved all the same")
        #expect(outcome["build"].outputs == nil)
        #expect(outcome.findings.contains { $0.rule == "outputs" && $0.message.contains(says) })
        let left = try FileManager.default.contentsOfDirectory(atPath: RunFolder.current.path("first/artifacts"))
        #expect(left.isEmpty)
    }

    /// `other` makes `other/b`, and may also declare `out/a`.
    @Test(arguments: [(["out/**"], [], false), (["other/**"], [], true), (["out/**"], ["other"], true)])
    func `files that may belong to another step are not stored`(outputs: [String], needs: [String], isKept: Bool)
        async throws
    {
        var build = build()
        build.needs = needs
        let other = PlannedStep.shell("other", "mkdir -p other; echo b > other/b") {
            $0.outputs = outputs + ["other/**"]
        }
        let outcome = await run(
            [other, build],
            setting: RunFolder.current.setting(run: "first") { $0.keys = ["build": Self.key, "other": Self.key] })
        #expect(outcome.verdict == .passed)
        #expect((outcome["build"].outputs != nil) == isKept)
        #expect(outcome["build"].key != nil, "it is proved all the same")
        let says = "out/a may be an output of step \"other\""
        #expect(outcome.findings.contains { $0.rule == "outputs" && $0.message.contains(says) } == !isKept)
    }

    /// `later` needs `build` and makes files in the same folder.
    @Test(arguments: [false, true]) func `files that a later step left in the workspace are not stored`(isWarm: Bool)
        async throws
    {
        let old = RunFolder.current.workspace + "/out/later"
        if isWarm {
            try FileManager.default.createDirectory(
                atPath: RunFolder.current.workspace + "/out", withIntermediateDirectories: true)
            try Data("old".utf8).write(to: URL(fileURLWithPath: old))
            // For some milliseconds the time "now" is not later than a new file's time.
            let made = try FileManager.default.attributesOfItem(atPath: old)[.modificationDate] as? Date
            let written = try #require(made)
            try await eventually { FileStamp.now > written }
        }
        let later = PlannedStep.shell("later", "cp out/a out/later", needs: ["build"]) { $0.outputs = ["out/**"] }
        let outcome = await run(
            [build(), later],
            setting: RunFolder.current.setting(run: "first") { $0.keys = ["build": Self.key, "later": Self.key] })
        #expect(outcome.verdict == .passed)
        #expect((outcome["build"].outputs != nil) == !isWarm)
        #expect(outcome["later"].outputs?.files == 2, "what it needs is in its key")
    }

    @Test func `outputs are not stored if the step removes tracked files`() async throws {
        for (tracked, isKept) in [(["out/a"], true), (["out/a", "out/gone"], false)] {
            let outcome = await made(build()) { $0.tracked = ["build": tracked] }
            #expect((outcome["build"].outputs != nil) == isKept)
            #expect(outcome.findings.contains { $0.message.contains("it removed out/gone") } == !isKept)
        }
    }

    @Test(arguments: [
        "mkdir -p out/sub/.git; echo a > out/sub/.git/HEAD; echo a > out/a",
        "mkdir -p out; echo a > out/a; echo b > \"out/$(printf '\\377')\"",
    ])
    func whatWouldBeMissingIsNotKept(line: String) async throws {
        let outcome = await made(build(line))
        #expect(outcome.verdict == .passed)
        #expect(outcome["build"].key != nil && outcome["build"].outputs == nil)
        #expect(outcome.findings.contains { $0.rule == "outputs" && $0.message.contains("can't be collected") })
    }

    @Test func `a step without a key stores no outputs`() async {
        let outcome = await run([build()])
        #expect(outcome["build"].outputs == nil && outcome["build"].key == nil)
    }
}
