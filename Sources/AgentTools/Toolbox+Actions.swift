import Client
import Control
import Engine
import Foundation
import MCP
import WorkflowPrograms
import Results

/// Tools that start and end runs. None of them approves anything or has effects outside.
extension Toolbox {
    private static let started = JSONSchema.answer(
        ["run": JSONSchema.integer(1...Int.max, "The new run, for wait_for_verdict."), "next": ["type": "string"]],
        required: ["run", "next"])

    private func started(_ id: RunID) -> ToolAnswer {
        ToolAnswer([
            "run": .integer(Int(id)), "next": .string("wait_for_verdict with what \"\(id)\" blocks until its verdict"),
        ])
    }

    var rerunFailed: AgentTool {
        AgentTool(
            name: "rerun_failed", title: "Rerun what failed",
            summary: """
                Repeats the steps of an ended run that did not pass, as a new run of the same commit. \
                Only a person can repeat releases and runs with secrets.
                """,
            effect: .adds, parameters: [Self.run], output: Self.started
        ) { arguments, _ in
            var request = RerunRequest(run: try run(arguments))
            (request.failedOnly, request.isForAgent) = (true, true)
            return started(
                try await order(.rerun(request)) { if case .accepted(let id, _) = $0 { id } else { nil } })
        }
    }

    var runWorkingTree: AgentTool {
        AgentTool(
            name: "run_working_tree", title: "Run a workflow on the working tree",
            summary: """
                Runs a workflow on a copy of the working tree, uncommitted changes included: a \
                check before a push. Returns the run at once. Only a person can start releases.
                """, effect: .adds,
            parameters: [
                AgentTool.Parameter(
                    "workflow", JSONSchema.string("The workflow's name, mostly \"test\"."), isRequired: true),
                AgentTool.Parameter("folder", JSONSchema.string("The repository that you work in.")),
                AgentTool.Parameter("steps", JSONSchema.strings("Run only these steps and the steps they need.")),
                AgentTool.Parameter(
                    "tests",
                    JSONSchema.strings("Only these tests, by their names in a bundle, in a step with a test filter.")),
                AgentTool.Parameter("parameters", JSONSchema.texts("Values of the workflow's parameters.")),
            ], output: Self.started
        ) { arguments, _ in
            let top = try RunSubject.top(of: try folder(arguments))
            let subject = try await RunSubject(ref: nil, change: nil).resolved(in: top)
            var request = StartRequest(
                location: top, workflow: try arguments.string("workflow") ?? "", subject: subject,
                parameters: try arguments.texts("parameters"), steps: try arguments.strings("steps"))
            let tests = try arguments.strings("tests")
            request.tests = tests.isEmpty ? nil : tests
            request.isForAgent = true
            return started(
                try await order(.start(request)) { if case .accepted(let id, _) = $0 { id } else { nil } })
        }
    }

    var cancelRun: AgentTool {
        AgentTool(
            name: "cancel_run", title: "Cancel a run", summary: "Ends a queued or running run.", effect: .changes,
            parameters: [
                Self.run, AgentTool.Parameter("reason", JSONSchema.string("The reason, shown in the report.")),
            ],
            output: JSONSchema.answer(["outcome": ["type": "string"]], required: ["outcome"])
        ) { arguments, _ in
            let reason = try arguments.string("reason", atMost: 500) ?? "cancelled by an agent"
            let outcome = try await order(.cancel(try run(arguments), reason: reason)) { reply in
                if case .completed(let action) = reply { action.inWords } else { nil }
            }
            return ToolAnswer(["outcome": .string(outcome)])
        }
    }

    var validateWorkflows: AgentTool {
        AgentTool(
            name: "validate_workflows", title: "Validate the workflows",
            summary: "Compiles workflows/ of the working tree and reports all mistakes.",
            effect: .reads,
            parameters: [
                AgentTool.Parameter("folder", JSONSchema.string("The top folder of the repository.")), Self.budget,
            ],
            output: Self.listSchema(
                "findings", ["type": "object"],
                others: ["valid": ["type": "boolean"], "workflows": ["type": "array", "items": ["type": "string"]]])
        ) { arguments, call in
            let budget = try budget(arguments)
            await call.progress("compiling workflows/")
            let loaded = try await WorkflowFolder.load(
                try RunSubject.top(of: try folder(arguments)), state: state)
            let findings = try await loaded.cache.findings(for: loaded.sources)
            var others: [String: JSON] = ["valid": .bool(findings.isEmpty)]
            if findings.isEmpty {
                others["workflows"] = .array(try await loaded.program().names.map { .string($0) })
            }
            return Self.list(
                try findings.map { try JSON(encoding: $0) }, as: "findings", others: others, within: budget
            ) { _ in ["maximum_bytes": .integer(Self.budgets.upperBound)] }
        }
    }
}
