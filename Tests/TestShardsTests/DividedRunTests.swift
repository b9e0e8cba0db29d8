import Concurrency
import Foundation
import Pipeline
import Results
import SystemPackage
import TestSupport
import StepSlots
import Testing

@testable import Engine
@testable import TestShards

/// Runs divided steps with the real engine. The runner is a script that takes a list.
@Suite(.timeLimit(.minutes(3))) struct DividedRunTests {
    /// Writes a result for each test of its list, with a time that its number decides. Every fourth is slow.
    private static let runner = """
        echo "$PIPECTL_TESTS_FILE" > file-$PIPECTL_SHARD
        awk 'BEGIN { print "<testsuite>" } {
            split($0, part, "/"); n = substr(part[2], 5) + 0
            time = n % 4 == 0 ? 0.02 + (n * 7919 % 1000) / 2000 : 0.001
            printf "<testcase classname=\\"%s\\" name=\\"%s\\" time=\\"%.4f\\"/>\\n", part[1], part[2], time
        } END { print "</testsuite>" }' "$PIPECTL_TESTS_FILE" > results-$PIPECTL_SHARD.xml
        """

    private static func list(_ numbers: String) -> String {
        #"awk 'BEGIN { for (n = 1; n <= 6000; n++) if (\#(numbers)) printf "M.S/test%05d\n", n }' > tests.txt"#
    }

    private func plan(_ count: Int, list: String, runner: String = DividedRunTests.runner) -> Plan {
        Workflow("w") {
            let listing = Step("list", run: list)
            Step("tests", needs: listing, run: runner).testResults(.junit("results-$PIPECTL_SHARD.xml"))
                .shards(count, of: "tests.txt")
        }.plan(for: PlanContext(repository: "r", event: .manual, commit: "c", ref: "refs/heads/main"))
    }

    private let request = Sample.request("r", "w", change: nil)

    private func run(_ plan: Plan, in folder: RunFolder, named name: String) async throws -> RunOutcome {
        let times = TestTimesFolder(folder.path("times"))
        let run = FilePath(folder.path(name))
        let place = LocalPlace(
            workspace: FilePath(folder.path("\(name)/workspace")), folder: run, stepInit: RunFolder.stepInit)
        let request = self.request
        let known = try await offThread { times.known(for: plan, of: request) }
        let setting = RunSetting(
            place: DividedPlace(place, knowing: known, folder: run), folder: run,
            environment: RunSetting.baseEnvironment(ProcessInfo.processInfo.environment))
        let outcome = await Runner(setting: setting, pool: SlotPool(slots: 4)) { _ in }.run(plan, stop: StopSignal())
        try await offThread { times.add(outcome.steps, outcome.tests, of: plan, request) }
        return outcome
    }

    /// The time of the slowest part by that of the best possible division.
    private func share(_ outcome: RunOutcome) -> Double {
        let sums = outcome.steps.compactMap { step in
            step.tests?.of(outcome.tests).reduce(0) { $0 + ($1.duration ?? 0) }
        }
        let total = sums.reduce(0, +)
        return total > 0 ? (sums.max() ?? 0) / (total / Double(sums.count)) : .infinity
    }

    private func names(_ outcome: RunOutcome) -> [String] { outcome.tests.map(\.name).sorted() }

    @Test func `after one run of 5,000 tests, four parts take at most 1.15 times the ideal`() async throws {
        try await RunFolder.provide {
            let folder = RunFolder.current
            let first = try await run(plan(4, list: Self.list("n <= 5000")), in: folder, named: "first")
            #expect(first.verdict == .passed)
            let all = (1...5_000).map { "test" + String(repeating: "0", count: 5 - "\($0)".count) + "\($0)" }
            #expect(names(first) == all)
            // Nothing is known yet, and the slow tests come together.
            #expect(share(first) > 2)
            let second = try await run(plan(4, list: Self.list("n <= 5000")), in: folder, named: "second")
            #expect(names(second) == all)
            #expect(share(second) <= 1.15)
        }
    }

    @Test func `a list that has changed loses no test and runs none twice`() async throws {
        try await RunFolder.provide {
            let folder = RunFolder.current
            _ = try await run(plan(3, list: Self.list("n <= 400")), in: folder, named: "first")
            let changed = Self.list("n > 20 && n <= 500 && n % 7 != 0")
            let second = try await run(
                plan(3, list: changed + "; cat tests.txt tests.txt > twice; mv twice tests.txt"), in: folder,
                named: "second")
            let expected = (21...500).filter { $0 % 7 != 0 }.map {
                "test" + String(repeating: "0", count: 5 - "\($0)".count) + "\($0)"
            }
            #expect(names(second) == expected)
            #expect(second.steps.compactMap { $0.tests?.count }.count == 3)
        }
    }

    @Test func `a part without tests runs nothing`() async throws {
        try await RunFolder.provide {
            let folder = RunFolder.current
            let outcome = try await run(plan(3, list: Self.list("n <= 2")), in: folder, named: "run")
            #expect(outcome.steps.map(\.status) == [.passed, .passed, .passed, .passed])
            #expect(names(outcome) == ["test00001", "test00002"])
            let workspace = folder.path("run/workspace")
            #expect(FileManager.default.fileExists(atPath: "\(workspace)/file-1"))
            #expect(!FileManager.default.fileExists(atPath: "\(workspace)/file-3"))
        }
    }

    @Test(arguments: ["true", ": > tests.txt", "printf 'a\\0b\\n' > tests.txt", "ln -s /etc/passwd tests.txt"])
    func `a list that can't be divided fails the parts`(list: String) async throws {
        try await RunFolder.provide {
            let outcome = try await run(plan(2, list: list), in: RunFolder.current, named: "run")
            #expect(outcome.verdict == .failed)
            #expect(outcome.steps.dropFirst().map(\.status) == [.failed, .failed])
            #expect(outcome.steps.last?.attempts.last?.log != nil)
        }
    }

    @Test func `attempts of a part have the same tests although the list has changed since`() async throws {
        try await RunFolder.provide {
            let flaky = """
                cat "$PIPECTL_TESTS_FILE" >> seen-$PIPECTL_SHARD; echo M.S1/test99999 > tests.txt
                \(Self.runner)
                [ $PIPECTL_ATTEMPT = 2 ]
                """
            var plan = self.plan(2, list: Self.list("n <= 4"), runner: flaky)
            for index in plan.steps.indices { plan.steps[index].retry = RetryPolicy(count: 1) }
            // The list of the first step must not be written again.
            plan.steps[0].retry = RetryPolicy()
            let outcome = try await run(plan, in: RunFolder.current, named: "run")
            #expect(outcome.verdict == .flaky)
            for number in 1...2 {
                let file = RunFolder.current.path("run/workspace") + "/seen-\(number)"
                let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
                #expect(lines.count == 4 && lines.prefix(2) == lines.suffix(2))
            }
        }
    }

    @Test func `all parts of a list run again if one must`() {
        let plan = self.plan(3, list: "true")
        let step = CarriedStep(citation: ProofCitation(run: 1, attempt: 1, step: "s"))
        let names = plan.steps.map(\.name)
        let some = Dictionary(names.dropLast().map { ($0, step) }, uniquingKeysWith: { first, _ in first })
        #expect(Array(plan.withoutLoneParts(some).keys) == ["list"])
        let all = Dictionary(names.map { ($0, step) }, uniquingKeysWith: { first, _ in first })
        #expect(Set(plan.withoutLoneParts(all).keys) == Set(names))
    }
}
