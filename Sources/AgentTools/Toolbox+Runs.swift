import Archive
import Client
import Control
import Foundation
import MCP
import Results

/// Tools that list runs and describe one.
extension Toolbox {
    var listRuns: AgentTool {
        AgentTool(
            name: "list_runs", title: "List runs", summary: "Runs of the build box, newest first, with filters.",
            effect: .reads,
            parameters: [
                Self.repository, AgentTool.Parameter("workflow", JSONSchema.string("Only runs of this workflow.")),
                AgentTool.Parameter("change", JSONSchema.string("Only runs of this change.")),
                AgentTool.Parameter("branch", JSONSchema.string("Only runs of this branch, or of changes into it.")),
                AgentTool.Parameter("commit", JSONSchema.string("Only runs of commits whose id starts with this.")),
                AgentTool.Parameter(
                    "verdict", JSONSchema.choice(Verdict.allCases.map(\.rawValue), "Only runs with this verdict.")),
                AgentTool.Parameter(
                    "state", JSONSchema.choice(RunState.allCases.map(\.rawValue), "Only runs in this state.")),
                AgentTool.Parameter(
                    "before", JSONSchema.integer(1...Int.max, "Only runs with a smaller number: the next page.")),
                AgentTool.Parameter("limit", JSONSchema.integer(1...1_000, "The most runs to return.", standard: 20)),
                Self.budget,
            ], output: Self.listSchema("runs", ["type": "object"])
        ) { arguments, _ in
            let budget = try budget(arguments)
            let state = try arguments.choice("state", RunState.self)
            var query = RunsQuery(
                repository: try arguments.string("repository"), workflow: try arguments.string("workflow"),
                change: try arguments.string("change"), branch: try arguments.string("branch"),
                commit: try arguments.string("commit"), states: state.map { [$0] } ?? [],
                verdicts: try arguments.choice("verdict", Verdict.self).map { [$0] } ?? [],
                limit: try arguments.integer("limit", in: 1...1_000) ?? 20)
            query.before = try arguments.integer("before", in: 1...Int.max).map { RunID($0) }
            let asked = query
            let runs = try await ask(.runs(asked)) { if case .runs(let runs) = $0 { runs } else { nil } }
            return Self.list(try runs.map { try JSON(encoding: $0) }, as: "runs", within: budget) { count in
                ["before": .integer(Int(runs[max(count - 1, 0)].id))]
            }
        }
    }

    var getRun: AgentTool {
        AgentTool(
            name: "get_run", title: "Get a run",
            summary: "One run: its state, its steps with their state and time, and its test counts.", effect: .reads,
            parameters: [Self.run, Self.budget],
            output: Self.listSchema("steps", ["type": "object"], others: ["run": ["type": "object"]])
        ) { arguments, _ in
            let (id, budget) = (try run(arguments), try budget(arguments))
            let detail = try await ask(.run(id)) { if case .run(let detail) = $0 { detail } else { nil } }
            var others: [String: JSON] = ["run": try JSON(encoding: detail.summary)]
            if let behind = detail.behind { others["queued_behind"] = .integer(behind) }
            var steps: [JSON] = []
            if let live = detail.live {
                others["phase"] = .string(live.progress)
                steps = live.steps.map { step in
                    Self.step(
                        step.record,
                        [
                            "last_line": step.lastLine.map { .string($0) },
                            "waits_for": step.waitsFor.map { .string($0) },
                        ])
                }
            } else if detail.summary.isArchived {
                steps = try await ReportLoader(state).store.report(id).steps.map { Self.step($0, [:]) }
            }
            return Self.list(steps, as: "steps", others: others, within: budget) { _ in
                ["tool": "get_bundle", "run": .integer(Int(id))]
            }
        }
    }

    private static func step(_ record: StepRecord, _ more: [String: JSON?]) -> JSON {
        var members: [String: JSON] = [
            "name": .string(record.name), "status": .string(record.status.rawValue),
            "attempts": .integer(record.attempts.count),
        ]
        members["reason"] = record.reason.map { .string(String($0.prefix(500))) }
        members["seconds"] = record.duration.map { .number($0) }
        members["failed_tests"] = record.testCounts.map { .integer($0.failed) }
        members["passed_tests"] = record.testCounts.map { .integer($0.passed) }
        members["proved_by"] = record.provedBy.map { .integer(Int($0.run)) }
        for (name, value) in more { if let value { members[name] = value } }
        return .object(members)
    }
}
