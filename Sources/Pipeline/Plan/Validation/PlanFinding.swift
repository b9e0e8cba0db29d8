/// A mistake in a workflow that the compiler can't see, and what to do about it.
public struct PlanFinding: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The rule's name. It is stable, so that code can switch on it.
    public var rule: String
    /// The workflow's name; empty if the finding is about the whole list.
    public var workflow: String
    /// The step's name; nil if the finding is about the workflow.
    public var step: String?
    /// What is wrong and what to do next, in one sentence.
    public var message: String

    public init(rule: String, workflow: String, step: String? = nil, message: String) {
        self.rule = rule
        self.workflow = workflow
        self.step = step
        self.message = message
    }

    public var description: String {
        "workflow \"\(workflow)\"" + (step.map { ", step \"\($0)\"" } ?? "") + ": \(message) [\(rule)]"
    }
}

/// One check that every plan must pass before anything runs.
protocol PlanRule: Sendable {
    static var name: String { get }
    func check(_ plan: Plan, _ report: (_ step: String?, _ message: String) -> Void)
}

extension Plan {
    static let rules: [any PlanRule] = [
        NotEmpty(), UsableNames(), UniqueNames(), KnownNeeds(), NoCycles(), UsableGlobs(), UsableActions(),
        UsableLimits(), UsableCaches(), UsableFolders(), UsableEnvironment(), UsableSecrets(), ConsistentResources(),
        PublishedValues(), UsableApprovals(), UsableProofs(),
    ]

    /// Everything that is wrong with the plan. An empty array means that it can run.
    public func validate() -> [PlanFinding] {
        // A plan may come from another program. One that is too large is not examined in detail.
        let rules: [any PlanRule] = steps.count > NotEmpty.limit ? [NotEmpty()] : Plan.rules
        return rules.flatMap { rule in
            var findings: [PlanFinding] = []
            rule.check(self) { step, message in
                findings.append(
                    PlanFinding(rule: type(of: rule).name, workflow: workflow, step: step, message: message))
            }
            return findings
        }
    }
}

extension WorkflowDeclaration {
    /// Everything that is wrong with the workflows' names, triggers, parameters and settings.
    public static func validate(_ declarations: [WorkflowDeclaration]) -> [PlanFinding] {
        var findings: [PlanFinding] = []
        var seen: Set<String> = []
        if declarations.isEmpty {
            findings.append(
                PlanFinding(
                    rule: "no-workflows", workflow: "", message: "no workflow is listed; add one to `workflows`"))
        }
        for declaration in declarations {
            func report(_ rule: String, _ message: String) {
                findings.append(PlanFinding(rule: rule, workflow: declaration.name, message: message))
            }
            if let reason = nameProblem(declaration.name) { report("workflow-name", reason) }
            if !seen.insert(declaration.name).inserted {
                report("duplicate-workflow", "two workflows have this name; rename one")
            }
            for trigger in declaration.triggers {
                for glob in trigger.branches + trigger.paths + trigger.ignoredPaths {
                    do throws(GlobProblem) { _ = try Glob(glob) } catch { report("glob", error.description) }
                }
                if trigger.branches.isEmpty && trigger.event != .manual {
                    report("trigger", "its \(trigger.event) trigger names no branch; for example, write into: \"main\"")
                }
                if let cron = trigger.cron {
                    do throws(CronProblem) {
                        if try CronSchedule(cron).next(after: 0) == nil {
                            report("schedule", "\"\(cron)\" never matches")
                        }
                    } catch { report("schedule", error.description) }
                }
            }
            for glob in (declaration.approval?.paths ?? []) + (declaration.integrity ?? []).flatMap(\.globs) {
                do throws(GlobProblem) { _ = try Glob(glob) } catch { report("glob", error.description) }
            }
            for rule in declaration.integrity ?? [] {
                if case .companions(let globs, let companions) = rule, globs.isEmpty || companions.isEmpty {
                    report(
                        "integrity",
                        "a rule about companions names no paths: .changing(\"Sources/**\", requires: \"Tests/**\")")
                }
                if case .atMost(let lines, let files) = rule, lines < 1 || (files ?? 1) < 1 {
                    report(
                        "integrity",
                        "a change of at most \(min(lines, files ?? lines)) can't be large; use a limit above 0")
                }
            }
            var parameters: Set<String> = []
            for parameter in declaration.parameters {
                if let reason = nameProblem(parameter.name) { report("parameter", reason) }
                if parameter.name.contains("=") {
                    report("parameter", "the name \"\(parameter.name)\" contains =; --param NAME=VALUE can't set it")
                }
                // Steps see a parameter as a variable, in which "dry-run" and "dry_run" have the same name.
                if !parameters.insert(StepVariable.parameter(parameter.name)).inserted {
                    report(
                        "parameter",
                        "parameter \"\(parameter.name)\" is declared twice, or differs from another in punctuation only"
                    )
                }
                if parameter.kind == .choice && parameter.choices.isEmpty {
                    report("parameter", "parameter \"\(parameter.name)\" has no choices")
                }
                if let value = parameter.defaultValue, case .failure(let problem) = parameter.value(given: value) {
                    report("parameter", "the default of \(problem.description)")
                }
            }
            for problem in declaration.fix?.problems ?? [] { report("fix", problem) }
            if declaration.fix != nil, !declaration.triggers.contains(where: { $0.event == .pullRequest }) {
                report(
                    "fix",
                    "only changes can be fixed, but no change starts this workflow; add on: .pullRequest(into: \"main\")"
                )
            }
            if case .queue(let max) = declaration.concurrency, max < 1 {
                report("concurrency", "a queue of \(max) can't hold a run; write .queue(max: 1) or more")
            }
        }
        return findings
    }
}

/// Why a name can't be shown, stored or typed; nil for a usable name.
func nameProblem(_ name: String) -> String? {
    if name.isEmpty { return "a name is empty" }
    if name.utf8.count > 200 { return "the name \"\(name.prefix(40))…\" is longer than 200 bytes" }
    if name.first == " " || name.last == " " || name.first == "-" || name.first == "." {
        return "the name \"\(name)\" starts or ends with an invisible character or a space"
    }
    let refused = name.unicodeScalars.first { scalar in
        scalar.value < 0x20 || scalar.value == 0x7f || scalar == "/" || scalar == "\\"
            || scalar.properties.generalCategory == .format || scalar.properties.generalCategory == .control
            || scalar.properties.generalCategory == .lineSeparator
            || scalar.properties.generalCategory == .paragraphSeparator
    }
    if let refused {
        return
            "the name contains U+\(String(refused.value, radix: 16, uppercase: true)); use letters, digits, spaces, - and _"
    }
    return nil
}
