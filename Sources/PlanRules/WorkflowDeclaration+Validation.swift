public import Pipeline

extension WorkflowDeclaration {
    /// Everything that is wrong with the workflows' names, triggers, parameters and settings.
    public static func validate(_ declarations: [WorkflowDeclaration]) -> [PlanFinding] {
        guard !declarations.isEmpty else {
            return [
                PlanFinding(
                    rule: "no-workflows", workflow: "", message: "no workflow is listed; add one to `workflows`")
            ]
        }
        var findings: [PlanFinding] = []
        var seen: Set<String> = []
        for declaration in declarations {
            func report(_ rule: String, _ message: String) {
                findings.append(PlanFinding(rule: rule, workflow: declaration.name, message: message))
            }
            if let reason = nameProblem(declaration.name) { report("workflow-name", reason) }
            if !seen.insert(declaration.name).inserted {
                report("duplicate-workflow", "two workflows have this name; rename one")
            }
            declaration.validateTriggers(report)
            declaration.validateRules(report)
            declaration.validateParameters(report)
            declaration.validateSettings(report)
        }
        return findings
    }

    private typealias Report = (_ rule: String, _ message: String) -> Void

    private func validateTriggers(_ report: Report) {
        for trigger in triggers {
            for problem in trigger.problems { report(problem.rule, problem.message) }
            if let cron = trigger.cron {
                do throws(CronProblem) {
                    if try CronSchedule(cron).next(after: 0) == nil {
                        report("schedule", "\"\(cron)\" never matches")
                    }
                } catch { report("schedule", error.description) }
            }
        }
    }

    /// Checks the paths of the approval, and the integrity rules.
    private func validateRules(_ report: Report) {
        for glob in (approval?.paths ?? []) + (integrity ?? []).flatMap(\.globs) {
            do throws(GlobProblem) { _ = try Glob(glob) } catch { report("glob", error.description) }
        }
        for rule in integrity ?? [] {
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
    }

    private func validateParameters(_ report: Report) {
        var names: Set<String> = []
        for parameter in parameters {
            if let reason = nameProblem(parameter.name) { report("parameter", reason) }
            if parameter.name.contains("=") {
                report("parameter", "the name \"\(parameter.name)\" contains =; --param NAME=VALUE can't set it")
            }
            // Steps see a parameter as a variable, in which "dry-run" and "dry_run" have the same name.
            if !names.insert(StepVariable.parameter(parameter.name)).inserted {
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
    }

    private func validateSettings(_ report: Report) {
        for problem in fix?.problems ?? [] { report("fix", problem) }
        if fix != nil, !triggers.contains(where: { $0.event == .pullRequest }) {
            report(
                "fix",
                "only changes can be fixed, but no change starts this workflow; add on: .pullRequest(into: \"main\")"
            )
        }
        if case .queue(let max) = concurrency, max < 1 {
            report("concurrency", "a queue of \(max) can't hold a run; write .queue(max: 1) or more")
        }
    }
}
