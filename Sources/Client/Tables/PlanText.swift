package import Pipeline
import PlanRules
import Results

/// A plan for people and for Graphviz.
package enum PlanText {
    package static func line(for declaration: WorkflowDeclaration) -> String {
        let triggers = declaration.triggers.map { trigger -> String in
            let filters = trigger.filterWords
            return event(trigger) + (filters.isEmpty ? "" : " [\(filters.joined(separator: "; "))]")
        }
        let parameters = declaration.parameters.map { $0.name + ($0.defaultValue.map { "=\($0)" } ?? " (required)") }
        return "\(declaration.name): \(triggers.isEmpty ? "by hand" : triggers.joined(separator: "; "))"
            + (parameters.isEmpty ? "" : "; parameters: \(parameters.joined(separator: ", "))")
    }

    /// How changes land in a branch: `landing: squash into main; requires test; …`.
    package static func line(for landing: LandingDeclaration) -> String {
        "landing: \(landing.method.rawValue) into \(landing.branch); requires \(landing.workflows.joined(separator: ", ")); "
            + (landing.merger == .forge ? "merged by the forge, " : "batches of \(landing.batchSize), ")
            + "depth \(landing.depth), attempts \(landing.attempts)" + (landing.label.map { ", label \($0)" } ?? "")
    }

    /// What agents are given to do: `tasks: into main; by claude; must pass test; …`.
    package static func line(for tasks: TasksDeclaration) -> String {
        var parts = [
            "tasks: into \(tasks.branch)", "by \(tasks.agents.map(\.name).joined(separator: ", "))",
            "must pass \(tasks.workflows.joined(separator: ", "))",
        ]
        if let reviewer = tasks.reviewer { parts.append("reviewed by \(reviewer.name)") }
        switch tasks.planning {
        case .approved:
            let small =
                tasks.small.map { " unless small (up to \($0.files) in \($0.globs.joined(separator: ", ")))" } ?? ""
            parts.append("plans are approved\(small)")
        case .shown: parts.append("plans are shown")
        case .none: parts.append("no plans")
        }
        switch tasks.reproduction {
        case .always: parts.append("a test must fail before")
        case .crashes: parts.append("after a failure a test must fail before")
        case .never: break
        }
        parts.append(
            "\(tasks.attempts == 1 ? "1 try" : "\(tasks.attempts) tries") of \(Figures.duration(tasks.timeout))")
        if let cost = tasks.cost { parts.append("at most $\(cost)") }
        if let tokens = tasks.tokens { parts.append("at most \(tokens) tokens") }
        if !tasks.hosts.isEmpty { parts.append("reaches \(tasks.hosts.joined(separator: ", "))") }
        if !tasks.secrets.isEmpty { parts.append("secrets \(tasks.secrets.joined(separator: ", "))") }
        if !tasks.sources.isEmpty { parts.append("begins on \(tasks.sources.map(words).joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }

    private static func words(_ source: TaskSourceRule) -> String {
        switch source {
        case .issueLabel(let label): "issues labelled \(label)"
        case .testFlight(let testFlight): "TestFlight of \(testFlight.app)"
        case .crashEndpoint: "crash reports"
        case .scheduledRun(let workflow): "failures of \(workflow)"
        case .redTarget: "tests that turn red"
        }
    }

    /// A rule that every change is held against: `rule: no networking in views (AGENTS.md): Views/** must not match …`.
    package static func line(for rule: Rule) -> String {
        let files = rule.files.isEmpty ? "all files" : rule.files.joined(separator: ", ")
        let except = rule.except.isEmpty ? "" : " except \(rule.except.joined(separator: ", "))"
        return
            "rule: \(rule.text)\(rule.source.map { " (\($0))" } ?? ""): \(files)\(except) must not match \(rule.pattern)"
    }

    /// The lines below the list of workflows: landings, tasks and rules.
    package static func lines(besides description: ProgramDescription) -> [String] {
        (description.landings ?? []).map { line(for: $0) } + [description.tasks].compactMap { $0 }.map { line(for: $0) }
            + (description.rules ?? []).map { line(for: $0) }
    }

    private static func event(_ trigger: Trigger) -> String {
        switch trigger.event {
        case .pullRequest: "pull request into \(trigger.branches.joined(separator: ", "))"
        case .merge: "merge into \(trigger.branches.joined(separator: ", "))"
        case .push: "push to \(trigger.branches.joined(separator: ", "))"
        case .tag: "tag \(trigger.branches.joined(separator: ", "))"
        case .schedule: "\(trigger.cron ?? "") UTC on \(trigger.branches.joined(separator: ", "))"
        case .manual: "by hand"
        }
    }

    /// The steps, grouped into waves: the steps of one wave may run at the same time.
    ///
    /// - Parameter namesMoves: Whether it says of each step if it may run on another machine than the others.
    package static func text(_ plan: Plan, namesMoves: Bool = false) -> String {
        let waves = waves(plan)
        let moves = namesMoves ? StepMoves(plan) : nil
        var lines = ["\(plan.workflow): \(plan.steps.count) steps" + (plan.failFast ? ", fails fast" : "")]
        for (number, wave) in waves.enumerated() {
            lines.append(number == 0 ? "at once" : "then")
            for step in wave {
                var facts: [String] = []
                if !step.needs.isEmpty { facts.append("needs \(step.needs.joined(separator: ", "))") }
                if step.condition == .always { facts.append("always") }
                if step.condition == .onFailure { facts.append("on failure") }
                if step.allowsFailure { facts.append("may fail") }
                if step.retry.count > 0 { facts.append("\(step.retry.count) retries") }
                for use in step.resources {
                    facts.append("\(use.units) of \(use.resource.capacity) \(use.resource.name)")
                }
                if !step.testResults.isEmpty {
                    facts.append("test results \(step.testResults.map(results).joined(separator: ", "))")
                }
                if let sources = step.findings, !sources.isEmpty {
                    facts.append("findings \(sources.map(findings).joined(separator: ", "))")
                }
                if !step.artifacts.isEmpty { facts.append("artifacts \(step.artifacts.joined(separator: ", "))") }
                if step.network == .allowed { facts.append("network") }
                if step.action == .approval { facts.append("waits for approval") }
                if !step.secrets.isEmpty {
                    let names = step.secrets.map { $0.delivery == .file ? $0.name : "\($0.name) as a variable" }
                    facts.append("\(names.count == 1 ? "secret" : "secrets") \(names.joined(separator: ", "))")
                }
                if let machine = step.machine, !machine.isEmpty {
                    facts.append("on \(machine.words.joined(separator: ", "))")
                }
                facts.append("at most \(Figures.duration(step.timeout))")
                if let moves, step.action.startsProcess {
                    let obstacle = moves.obstacle(to: step)
                    facts.append(obstacle.map { "stays: it \($0)" } ?? "may run on another machine")
                }
                lines.append("  \(step.name)  [\(facts.joined(separator: "; "))]")
                lines.append("      \(step.commandLine.split(separator: "\n").joined(separator: "\n      "))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func results(_ source: TestResultSource) -> String {
        switch source {
        case .junit(let glob), .swiftTestingEvents(let glob), .file(let glob): glob
        case .swiftPMConsole: "from the output of swift test"
        }
    }

    private static func findings(_ source: FindingSource) -> String {
        switch source {
        case .sarif(let glob): glob
        case .codeScanning(let glob): "\(glob) for code scanning"
        case .output: "from its output"
        case .matching(let rule): "from its output by rule \(rule.name)"
        }
    }

    package static func dot(_ plan: Plan) -> String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        var lines = ["digraph \(quoted(plan.workflow)) {", "  rankdir=LR;", "  node [shape=box];"]
        for step in plan.steps {
            let style = step.condition == .onSuccess ? "" : " [style=dashed]"
            lines.append("  \(quoted(step.name))\(style);")
            for need in step.needs { lines.append("  \(quoted(need)) -> \(quoted(step.name));") }
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static func waves(_ plan: Plan) -> [[PlannedStep]] {
        var depth: [String: Int] = [:]
        let hasNormal = plan.steps.contains { $0.condition == .onSuccess }
        var rest = plan.steps
        // A valid plan has no cycle, so each round places at least one step.
        while !rest.isEmpty {
            let before = rest.count
            rest.removeAll { step in
                let needs = step.needs.map { depth[$0] }
                guard needs.allSatisfy({ $0 != nil }) else { return false }
                let last = step.needs.isEmpty && step.condition != .onSuccess && hasNormal
                depth[step.name] = last ? .max : (needs.compactMap { $0 }.max().map { $0 + 1 } ?? 0)
                return true
            }
            if rest.count == before { break }
        }
        return Dictionary(grouping: plan.steps) { depth[$0.name] ?? 0 }.sorted { $0.key < $1.key }.map(\.value)
    }
}
