import PlanOrder
import Foundation
import TestBasics
import TestSupport

@testable import Results
@testable import Engine
@testable import Pipeline
import PlanRules

extension FuzzTarget {
    static let plans: [FuzzTarget] = [
        .pure("plan", isJSON: true, limit: 256 << 10, corpus: planCorpus, check: checkPlan),
        .pure("description", isJSON: true, limit: 256 << 10, corpus: descriptionCorpus, check: checkDescription),
    ]

    @Sendable private static func planCorpus() throws -> [[UInt8]] {
        var build = PlannedStep(name: "build", action: .shell("swift build"))
        build.retry = RetryPolicy(count: 3, condition: .exitCodes([1, 2]), backoff: .exponential(from: .seconds(1)))
        build.resources = [ResourceUse(resource: Resource("simulator", capacity: 2), units: 1)]
        build.caches = [CacheUse(name: "swiftpm", path: "~/.cache/swiftpm")]
        build.limits.memory = 4 << 30
        build.limits.cpuTime = 60
        build.publishes = ["version"]
        var test = PlannedStep(name: "test", action: .command(["swift", "test", "it's"]), needs: ["build"])
        test.testResults = [.junit(".build/tests*.xml"), .swiftPMConsole]
        test.artifacts = ["out/**"]
        test.environment = ["LANG": "C"]
        test.workingDirectory = "Sources"
        test.reads = ["version"]
        var report = PlannedStep(name: "report", action: .closure, needs: ["test"])
        report.condition = .onFailure
        report.secrets = [SecretUse("TOKEN")]
        var last = PlannedStep(name: "last", action: .shell("true"))
        last.condition = .always
        last.allowsFailure = true
        return try Corpus.json(
            Plan(workflow: "test", failFast: true, steps: [build, test, report, last]),
            Plan(workflow: "one", steps: [PlannedStep(name: "a", action: .command(["true"]))]),
            Plan(
                workflow: "chain",
                steps: (0..<12).map {
                    PlannedStep(name: "s\($0)", action: .closure, needs: $0 == 0 ? [] : ["s\($0 - 1)"])
                }))
    }

    /// A program's plan: refused with findings, or run to its end.
    @Sendable private static func checkPlan(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        guard let plan = try? JSONDecoder().decode(Plan.self, from: Data(bytes)) else { return }
        let findings = plan.validate()
        try demand(findings.allSatisfy { !$0.message.isEmpty }, "a finding without a message")
        guard findings.isEmpty else { return }
        for step in plan.steps {
            try demand(!step.commandLine.isEmpty, "no command line")
            for attempt in [1, 2, step.retry.count + 1] {
                let pause = step.retry.backoff.pause(beforeAttempt: attempt)
                try demand(pause >= 0 && pause <= 86_400, "a pause of \(pause) s")
            }
        }
        try walk(plan, &random)
    }

    /// Runs the graph with random results: every step must end, and the graph must never be stuck.
    private static func walk(_ plan: Plan, _ random: inout SplitMix64) throws {
        var graph = RunGraph(plan)
        var running: [Int] = []
        var skipped = 0
        let ends: [StepStatus] = [.passed, .passed, .passed, .failed, .timedOut, .cancelled, .infrastructure]
        for _ in 0...(2 * plan.steps.count + 2) where !graph.isFinished {
            try demand(!graph.isStuck, "the graph is stuck")
            running += graph.takeReady()
            skipped += graph.takeSkips().count
            if random.once(in: 50) { graph.stop(because: "fuzz", isFailure: random.once(in: 2)) }
            if !running.isEmpty {
                graph.end(running.remove(at: random.below(running.count)), as: random.pick(ends))
            }
        }
        try demand(graph.isFinished, "the graph does not end")
        for state in graph.states {
            guard case .ended(let status) = state, status.isFinal else { throw FuzzViolation("a step has not ended") }
        }
    }

    /// It has a value for each field of a trigger.
    @Sendable static func descriptionCorpus() throws -> [[UInt8]] {
        var test = WorkflowDeclaration(
            name: "test",
            triggers: [
                .pullRequest(
                    into: "main", paths: ["Sources/**"], ignoring: ["docs/**"], ignoringMessages: ["[skip ci]"],
                    drafts: .ignored, labels: ["ci"]),
                .push(to: "release/*", messages: ["[deploy]"]),
            ],
            parameters: [
                ParameterDeclaration(name: "dry-run", kind: .bool, choices: [], defaultValue: "true", help: ""),
                ParameterDeclaration(name: "kind", kind: .choice, choices: ["a", "b"], defaultValue: nil, help: "h"),
                ParameterDeclaration(name: "n", kind: .integer, choices: [], defaultValue: "1", help: ""),
            ])
        test.concurrency = .queue(max: 3)
        test.limits.wallTime = 60
        return try Corpus.json(
            ProgramDescription(workflows: [test]),
            ProgramDescription(workflows: [
                WorkflowDeclaration(name: "nightly", triggers: [.schedule("0 3 * * 1-5"), .manual]),
                WorkflowDeclaration(name: "release", triggers: [.tag(matching: "v*"), .merge(into: "main")]),
            ]))
    }

    /// A program's list of workflows: everything that is accepted can be asked about.
    @Sendable private static func checkDescription(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        guard let description = try? JSONDecoder().decode(ProgramDescription.self, from: Data(bytes)) else { return }
        guard WorkflowDeclaration.validate(description.workflows).isEmpty else { return }
        let text = random.pick(Hostile.texts)
        for workflow in description.workflows {
            _ = workflow.runsAtMostOnce
            for trigger in workflow.triggers {
                let facts = TriggerFacts(
                    branch: text, isDraft: random.below(2) == 0, labels: [text],
                    paths: { [text, "Sources/a/b.swift"] }, message: { text })
                try demand(trigger.objection(to: facts)?.why.isEmpty != true, "an objection without a reason")
                _ = trigger.filterWords
                if let cron = trigger.cron {
                    let time = random.below(4_000_000_000)
                    try demand(try CronSchedule(cron).next(after: time) ?? .max > time, "\(cron) comes before its time")
                }
            }
            for parameter in workflow.parameters {
                if case .success(let value) = parameter.value(given: text), parameter.kind == .choice {
                    try demand(parameter.choices.contains(value), "\(value) is none of the choices")
                }
                _ = StepVariable.parameter(parameter.name)
            }
        }
    }
}
