import Engine
import Foundation
import Git
import Masking
import Pipeline
import ProofKeys
import Results
import RunSamples
import Secrets
import Store
import TestBasics
import Testing
import Watching
import WorkflowPrograms

@testable import AgentWork
@testable import Preparing
@testable import Running

/// What an agent of a task is given, and what is taken of what it leaves; without a sandbox.
@Suite(.timeLimit(.minutes(2))) struct TaskWorkspaceTests {
    // MARK: Working

    @Test func `work: the files that differ become a commit on top of the target`() async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work("echo better > file; mkdir new; echo more > new/one; echo said what I did")
            #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
            let made = try #require(ended.result?.made)
            #expect(made.files == ["file", "new/one"])
            #expect((made.attempt, made.agent, made.additions, made.deletions) == (1, "ours", 2, 1))
            #expect(made.ref == "refs/pipectl/tasks/12/1")
            #expect(made.summary == "said what I did")
            #expect(made.unplanned == ["new/one"])
            let (commit, kept) = try await bench.commit(made)
            #expect(kept == commit.id)
            #expect(commit.parents.map(\.hex) == [bench.phases.tip.commit])
            #expect(commit.author.email == FixCommit.address)
            #expect(commit.message.contains("Pipectl-Task: 12, work 1"))
            #expect(ended.outcome.artifacts.map(\.path) == ["work.patch"])
            #expect((ended.result?.spent?.seconds ?? 0) > 0)
        }
    }

    @Test func `work: a further try goes on top of the one that it mends`() async throws {
        try await AgentBench.with { bench in
            let first = try #require(try await bench.work("echo one > one").result?.made)
            bench.add(.made(attempt: first))
            let second = try await bench.work("test -e one; echo two > two", attempt: 2, onTopOf: first)
            let reason = second.outcome.reason
            let made = try #require(second.result?.made, "\(reason)")
            let parents = try await bench.commit(made).commit.parents
            #expect(parents.map(\.hex) == [first.commit])
            // The whole of it counts, not the difference between two tries.
            #expect(made.files == ["one", "two"])
        }
    }

    @Test(arguments: [
        "mkdir -p workflows; echo x > workflows/Workflows.swift", "mkdir -p WorkFlows; echo x > WorkFlows/x",
        "mkdir -p .pipectl; echo x > .pipectl/x", "echo x > AGENTS.md", "mkdir -p a; echo x > a/claude.md",
        "mkdir -p .github/workflows; echo x > .github/workflows/ci.yml", "echo x > RULES.txt",
        "ln -s /etc/passwd link", "rm file; ln -s /etc/passwd file", "echo x > .gitmodules",
        "head -c 17000000 /dev/zero > large",
    ])
    func `work: a try is refused that changes what it may not`(_ line: String) async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work("\(line); echo y > fine")
            #expect(ended.outcome.verdict == .failed)
            #expect(ended.result?.made == nil)
            #expect(ended.result?.reason == ended.outcome.reason)
            let refs = try await bench.refs()
            #expect(refs.isEmpty)
        }
    }

    @Test(arguments: ["true", "echo content > file", "git commit -q --allow-empty -m mine"])
    func `work: without a change there is no try`(_ line: String) async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work("\(line) || true")
            #expect(ended.outcome.verdict == .failed)
            #expect(ended.result?.made == nil)
        }
    }

    @Test func `work: an agent that fails leaves no try`() async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work("echo x > file; exit 4")
            #expect(ended.outcome.verdict == .failed)
            #expect(ended.result?.made == nil && ended.result?.reason != nil)
            let refs = try await bench.refs()
            #expect(refs.isEmpty)
        }
    }

    @Test(arguments: [
        "printf %s \"$MODEL_KEY\" > leaked", "printf %s \"$MODEL_KEY\" | base64 > leaked", "touch \"$MODEL_KEY\"",
        "printf '{\"k\": \"%s\"}' \"$MODEL_KEY\" >> file",
    ])
    func `work: a secret in a file refuses the try, and in words it is masked`(_ line: String) async throws {
        try await AgentBench.with(secrets: ["MODEL_KEY": "sk-4f9a77c1d2e3b4a5"]) { bench in
            let leaked = try await bench.work(line)
            #expect(leaked.outcome.verdict == .failed)
            #expect(leaked.result?.made == nil)
            #expect(!leaked.outcome.reason.contains("sk-4f9a77c1d2e3b4a5"))
            let told = try await bench.work("echo fine > fine; echo \"the key is $MODEL_KEY\"", attempt: 2)
            let summary = try #require(told.result?.made?.summary, "\(told.outcome.reason)")
            #expect(summary.contains("the key is") && !summary.contains("sk-4f9a77c1d2e3b4a5"))
            let log = bench.log
            #expect(log.contains("the key is") && !log.contains("sk-4f9a77c1d2e3b4a5"))
        }
    }

    @Test func `a host whose name is a secret is told without it`() throws {
        let key = "sk-4f9a77c1d2e3b4a5"
        let masker = try #require(Masker([Secret(name: "MODEL_KEY", bytes: Array(key.utf8))]))
        let refusal = HostRefusal(host: "\(key).example.com:443", reason: "the repository's tasks do not name it")
        let finding = TaskWorkspace.finding(refusal, masker)
        #expect(finding.message.contains("[secret MODEL_KEY].example.com:443"))
        #expect(!finding.message.contains(key))
        #expect(TaskWorkspace.finding(refusal, nil).message.contains(key))
    }

    @Test func `work: the agent is told what it is to do, and what it used is read`() async throws {
        try await AgentBench.with { bench in
            bench.add(.remark(text: "prefer small steps"))
            let ended = try await bench.work(
                """
                cat > seen; grep -q 'Total is wrong' seen; grep -q 'prefer small steps' seen
                cmp seen "$PIPECTL_TASK_PROMPT"; rm seen
                test "$PIPECTL_TASK-$PIPECTL_TASK_PART-$PIPECTL_TASK_ATTEMPT" = 12-working-1
                test -f "$PIPECTL_TASK_REMARKS"
                echo '{"tokens": 1234, "cost": 0.25}' > "$PIPECTL_TASK_USAGE"
                echo done > file
                """)
            #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)\n\(bench.log)")
            #expect(ended.result?.spent?.tokens == 1234)
            #expect(ended.result?.spent?.cost == 0.25)
        }
    }

    @Test func `work: a remark reaches the agent while it works`() async throws {
        try await AgentBench.with { bench in
            async let ended = bench.work(
                """
                touch "\(bench.phases.folder)/began"
                until grep -q 'use the other queue' "$PIPECTL_TASK_REMARKS"; do sleep 0.1; done
                echo done > file
                """)
            try await eventually { FileManager.default.fileExists(atPath: "\(bench.phases.folder)/began") }
            bench.add(.remark(text: "use the other queue"))
            let verdict = try await ended.outcome.verdict
            #expect(verdict == .passed)
        }
    }

    // MARK: Planning

    @Test func `plan: the answer is read`() async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.plan(
                """
                echo thinking >&2
                echo '{"summary": "Count again", "approach": "Sum up", "files": ["file"], "tests": [], "tradeoffs": ""}'
                """)
            #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
            #expect(ended.result?.plan?.summary == "Count again")
            #expect(ended.result?.plan?.version == 1)
            #expect(ended.result?.made == nil)
            #expect(bench.log.contains("thinking"))
        }
    }

    @Test(arguments: ["echo I can not", "true", "echo '{\"summary\": 3}'", "yes | head -c 9000000"])
    func `plan: another answer fails the run`(_ line: String) async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.plan(line)
            #expect(ended.outcome.verdict == .failed)
            #expect(ended.result?.plan == nil && ended.result?.reason != nil)
        }
    }

    // MARK: Plans

    @Test func `plan of a run: an agent that the declaration lacks is a mistake of the definition`() async throws {
        try await AgentBench.with { bench in
            let role = TaskRole(task: 12, part: .working, attempt: 1, agent: "nobody")
            let error = #expect(throws: EarlyVerdict.self) {
                _ = try Plan(of: role, in: bench.record, within: Plan(workflow: "test", steps: []))
            }
            #expect(error?.verdict == .definitionError)
        }
    }

    @Test func `budget: what was used counts against it`() async throws {
        try await AgentBench.with { bench in
            var record = bench.record
            #expect(record.budgetExcess == nil)
            (record.rules.tokens, record.rules.cost) = (100, 2.5)
            #expect(record.budgetExcess == nil)
            record.spent.tokens = 99
            record.spent.cost = 2.49
            #expect(record.budgetExcess == nil)
            record.spent.tokens = 100
            #expect(record.budgetExcess != nil)
            (record.spent.tokens, record.spent.cost) = (nil, 2.5)
            #expect(record.budgetExcess != nil)
        }
    }

    // MARK: Reproducing

    @Test func `reproduction: the target gets the tests of a try and nothing else`() async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work(
                "mkdir -p Tests/A Sources; echo t > Tests/A/OneTests.swift; echo d > Tests/A/data.json; echo s > Sources/s.swift"
            )
            let made = try #require(ended.result?.made, "\(ended.outcome.reason)")
            let tip = try #require(OID(hex: bench.phases.tip.commit))
            try await withRepository(at: bench.phases.repository.store) { store in
                let first = try #require(try TaskReproductionCommit.make(made, of: 12, onto: tip, in: store))
                #expect(first.files == ["Tests/A/OneTests.swift", "Tests/A/data.json"])
                let parents = try store.commit(first.commit).parents
                #expect(parents == [tip])
                let files = try store.diff(from: tip, to: first.commit).map(\.path).sorted()
                #expect(files == first.files)
                let kept = try store.resolve(TaskCommit.testsRef(of: 12, attempt: 1))
                #expect(kept == first.commit)
                let again = try TaskReproductionCommit.make(made, of: 12, onto: tip, in: store)
                #expect(again == first)
            }
            let none = try await bench.work("echo s > file", attempt: 2)
            let other = try #require(none.result?.made)
            try await withRepository(at: bench.phases.repository.store) { store in
                let made = try TaskReproductionCommit.make(other, of: 12, onto: tip, in: store)
                #expect(made == nil)
            }
        }
    }
}
