import Archive
import Client
import Control
import Foundation
import MCP
import Results

/// Tools about tests: those of one run, their history, and the comparison with the target.
extension Toolbox {
    var listTests: AgentTool {
        AgentTool(
            name: "list_tests", title: "List the tests of a run",
            summary: "Tests of a run with their status, file and line, and message; failures first.", effect: .reads,
            parameters: [
                Self.run,
                AgentTool.Parameter(
                    "status",
                    JSONSchema.choice(TestResult.Status.allCases.map(\.rawValue), "Only tests with this status.")),
                AgentTool.Parameter("name", JSONSchema.string("Only tests that have this in their suite or name.")),
                AgentTool.Parameter("offset", JSONSchema.integer(0...Int.max, "Skip this many tests: the next page.")),
                AgentTool.Parameter(
                    "limit", JSONSchema.integer(1...10_000, "The most tests to return.", standard: 200)),
                Self.budget,
            ], output: Self.listSchema("tests", ["type": "object"], others: ["total": ["type": "integer"]])
        ) { arguments, _ in
            let (id, budget) = (try run(arguments), try budget(arguments))
            let status = try arguments.choice("status", TestResult.Status.self)
            let name = try arguments.string("name")
            let offset = try arguments.integer("offset", in: 0...Int.max) ?? 0
            let limit = try arguments.integer("limit", in: 1...10_000) ?? 200
            let all = try await ReportLoader(state).store.tests(id)
            let wanted = all.filter { test in
                (status == nil || test.status == status)
                    && (name.map { test.id.range(of: $0, options: .caseInsensitive) != nil } ?? true)
            }
            let sorted = wanted.filter(\.status.isFailure) + wanted.filter { !$0.status.isFailure }
            let page = Array(sorted.dropFirst(min(offset, sorted.count)).prefix(limit))
            return Self.list(
                page.map(Self.test), as: "tests", others: ["total": .integer(sorted.count)], within: budget
            ) { ["offset": .integer(offset + $0)] }
        }
    }

    private static func test(_ test: TestResult) -> JSON {
        var members: [String: JSON] = ["id": .string(test.id), "status": .string(test.status.rawValue)]
        members["seconds"] = test.duration.map { .number($0) }
        members["file"] = test.file.map { .string($0) }
        members["line"] = test.line.map { .integer($0) }
        members["message"] = test.message.map { .string(String($0.prefix(500))) }
        if test.attempt > 1 { members["attempt"] = .integer(test.attempt) }
        return .object(members)
    }

    var testHistory: AgentTool {
        AgentTool(
            name: "test_history", title: "Show the history of a test",
            summary: """
                The results of one test in earlier runs, newest first; shows whether it is flaky or broke recently. once_more: \
                the build box retried it by itself, on a tree where it had failed.
                """,
            effect: .reads,
            parameters: [
                AgentTool.Parameter(
                    "test", JSONSchema.string("The test's name in a report, or a part of the name that is unique."),
                    isRequired: true), Self.repository,
                AgentTool.Parameter("workflow", JSONSchema.string("Only runs of this workflow.")),
                AgentTool.Parameter(
                    "limit", JSONSchema.integer(1...1_000, "The most results to return.", standard: 30)),
                Self.budget,
            ], output: Self.listSchema("results", ["type": "object"])
        ) { arguments, _ in
            let budget = try budget(arguments)
            let filter = TestFilter(
                repository: try arguments.string("repository"), workflow: try arguments.string("workflow"),
                limit: try arguments.integer("limit", in: 1...1_000) ?? 30)
            let name = try arguments.string("test") ?? ""
            let found = try await ask(.testHistory(name, filter)) { reply in
                if case .appearances(let found) = reply { found } else { nil }
            }
            let items = found.map { one in
                var members = Self.test(one.result).object ?? [:]
                members["run"] = .integer(Int(one.run))
                members["head"] = .string(one.head)
                members["change"] = one.change.map { .string($0) }
                members["branch"] = one.branch.map { .string($0) }
                if one.upkeep == .flakeProbe { members["once_more"] = true }
                members["ended"] = one.endedAt.map { .string($0.iso8601Seconds) }
                return JSON.object(members)
            }
            return Self.list(items, as: "results", within: budget) { ["limit": .integer($0)] }
        }
    }

    var compareWithTarget: AgentTool {
        AgentTool(
            name: "compare_with_target", title: "Compare with the target",
            summary: """
                Compares the tests and findings of a change's run with its target: what fails only here, what fails there \
                too, and what is fixed, added, removed, newly skipped, renamed or slower.
                """, effect: .reads, parameters: [Self.run, Self.budget],
            output: JSONSchema.answer(
                [
                    "against": JSONSchema.integer(1...Int.max, "The run of the target."), "commit": ["type": "string"],
                    "newlyFailing": ["type": "array"], "alsoFailing": ["type": "array"], "vanished": ["type": "array"],
                    "newlySkipped": ["type": "array"], "cut": ["type": "boolean"], "rest": ["type": "string"],
                ], required: ["against", "commit", "cut"])
        ) { arguments, _ in
            let (id, budget) = (try run(arguments), try budget(arguments))
            let comparison = try await ask(.compare(id, against: nil)) { reply in
                if case .comparison(let found) = reply { found } else { nil }
            }
            var members = try JSON(encoding: comparison).object ?? [:]
            let lists = [
                "newlyFailing", "vanished", "newlySkipped", "newFindings", "renamed", "slower", "alsoFailing", "fixed",
                "added",
            ].compactMap { key in members[key]?.array.map { (key, $0) } }
            for (key, _) in lists { members[key] = [] }
            var isCut = false
            for (key, items) in lists {
                let kept = budget.fitting(items, beside: JSON.object(members).bytes.count + 256)
                isCut = isCut || kept.count < items.count
                members[key] = .array(kept)
            }
            members["cut"] = .bool(isCut)
            if isCut { members["rest"] = "ask with a larger maximum_bytes" }
            return ToolAnswer(.object(members))
        }
    }
}
