@testable import Evaluating
import Foundation
import Git
import Logging
import Pipeline
import Preparing
import Results
import RunSamples
import Store
import TestBasics
import Testing
import WorkflowPrograms
import Watching

/// Rules of the target's definition, held against the lines that a change adds.
@Suite(.timeLimit(.minutes(2))) struct RuleContributorTests {
    private let rule = Rule("no networking in views", forbids: "URLSession", in: "Views/**", says: "AGENTS.md")

    /// The report of a run that passed, of a change that makes these files of those.
    private func report(
        _ old: [String: String], _ new: [String: String], rules: [Rule]? = nil, verdict: Verdict = .passed,
        moved: [(String, String)] = []
    ) async throws -> Report {
        let folder = try TemporaryFolder()
        let repository = try await TestRepository.make(at: folder["r"])
        let target = try await repository.commit(old, "target")
        for (from, to) in moved {
            try repository.write(["\(to).keep": ""])
            try await repository.git("mv", from, to)
        }
        let tested = try await repository.commit(new, "change")
        let report = try await report(folder["r/.git"], target, tested, rules ?? [rule], verdict)
        withExtendedLifetime(folder) {}
        return report
    }

    private func report(
        _ store: String, _ target: String, _ tested: String, _ rules: [Rule], _ verdict: Verdict
    ) async throws -> Report {
        let request = RunSample.request()
        var prepared = try RunSample.prepared(
            request, tested: (tested, RunSample.commit(0xCAFE)))
        let program = prepared.program
        var description = program.description
        description.rules = rules
        prepared.program = WorkflowProgram(
            key: "", executable: "/none", description: description, directory: "/none", reads: [],
            programSandbox: .none, environment: [:], limits: ProgramLimits())
        prepared.definition.commit = target
        let run = FinishedRun(
            run: QueuedRun(id: 1, request: request, createdAt: Date()), prepared: prepared,
            repository: WatchedRepository(
                name: "alpha", location: store, gitDirectory: store, store: store, isRemote: false))
        var draft = ReportDraft(report: RunSample.report(verdict: verdict))
        draft.report.change?.targetCommit = target
        await RuleContributor(log: Logger(label: "test")).contribute(to: &draft, of: run)
        return draft.report
    }

    @Test func `an added line that breaks a rule fails the run and is cited`() async throws {
        let report = try await report(
            ["AGENTS.md": "# Rules\n- No networking in views.\n", "Views/A.swift": "URLSession.old\na\n", "b": "b"],
            ["Views/A.swift": "URLSession.old\na\nlet x = URLSession.shared\r\n", "b": "URLSession"])
        #expect(report.verdict == .failed)
        #expect(report.findings.map(\.rule) == [Report.brokenRule])
        #expect(report.findings.first?.file == "Views/A.swift")
        #expect(report.findings.first?.line == 3)
        #expect(report.findings.first?.message.contains("AGENTS.md:2") == true)
        #expect(report.findings.first?.excerpt == "let x = URLSession.shared")
        #expect(report.reason.contains("Views/A.swift:3"))
    }

    @Test func `what was there before is no finding, nor is a removal`() async throws {
        let report = try await report(
            ["Views/A.swift": "URLSession 1\nURLSession 2\nc\n", "Views/B.swift": "URLSession\n"],
            ["Views/A.swift": "URLSession 2\nc\nd\n"])
        #expect(report.verdict == .passed && report.findings.isEmpty)
    }

    @Test func `a change can't weaken the rules that judge it`() async throws {
        let report = try await report(
            ["AGENTS.md": "No networking in views", "Views/A.swift": "a"],
            ["AGENTS.md": "Networking in views is fine", "Views/A.swift": "URLSession"])
        #expect(report.verdict == .failed)
        #expect(report.findings.first?.suggestion?.contains("No networking in views") == true)
    }

    @Test func `a file that is moved to where a rule holds counts as new`() async throws {
        let lines = (1...50).map { "line \($0)\n" }.joined() + "URLSession\n"
        let report = try await report(
            ["Model/A.swift": lines, "AGENTS.md": "x"], ["c": "c"], moved: [("Model/A.swift", "Views/A.swift")])
        #expect(report.verdict == .failed)
        #expect(report.findings.first?.line == 51)
    }

    @Test func `a byte that makes a file binary hides nothing, and a file that is too large is no pass`() async throws {
        let hidden = try await report(["a": "a"], ["Views/A.swift": "// \u{0}\nURLSession\n"])
        #expect(hidden.verdict == .failed)
        #expect(hidden.findings.first?.line == 2)
        let large = String(repeating: "word\n", count: 600_000)
        let report = try await report(["Views/A.swift": large], ["Views/A.swift": large + "x\n"])
        #expect(report.verdict == .failed)
        #expect(report.findings.map(\.rule) == ["unchecked-rule"])
    }

    @Test func `a run that did not pass keeps its verdict, with the findings`() async throws {
        let report = try await report(["a": "a"], ["Views/A.swift": "URLSession"], verdict: .infrastructure)
        #expect(report.verdict == .infrastructure)
        #expect(report.findings.map(\.rule) == [Report.brokenRule])
    }

    @Test func `a change that can't be read is no pass`() async throws {
        let report = try await report(
            "/nonexistent", RunSample.commit(1), RunSample.commit(2), [rule], .passed)
        #expect(report.verdict == .infrastructure)
    }

    @Test func `without rules nothing is read`() async throws {
        let report = try await report("/nonexistent", RunSample.commit(1), RunSample.commit(2), [], .passed)
        #expect(report.verdict == .passed && report.findings.isEmpty)
    }
}
