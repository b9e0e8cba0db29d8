import Pipeline
import PlanRules

extension ProgramDescription {
    /// What is wrong with the tasks, given the workflows of the list.
    var taskFindings: [PlanFinding] {
        guard let tasks else { return [] }
        return (tasks.problems + tasks.furtherProblems(workflows)).map {
            PlanFinding(rule: "tasks", workflow: "", message: $0)
        }
            + Set(tasks.workflows).sorted().flatMap { name -> [PlanFinding] in
                guard let workflow = workflows.first(where: { $0.name == name }) else {
                    return [.tasks("tasks must pass it; add it to `workflows`", workflow: name)]
                }
                return tasks.problems(passing: workflow).map { .tasks($0, workflow: name) }
            }
    }

    /// What is wrong with the rules that a machine checks.
    var ruleFindings: [PlanFinding] {
        let rules = rules ?? []
        var problems = rules.flatMap(\.problems)
        let texts = rules.map(\.text)
        for text in Set(texts.filter { text in texts.count { $0 == text } > 1 }).sorted() {
            problems.append("two rules say \"\(text)\"; write one with both patterns: \"one|other\"")
        }
        if rules.count > Rule.most {
            problems.append("there are \(rules.count) rules; allowed: \(Rule.most)")
        }
        return problems.map { PlanFinding(rule: "rule", workflow: "", message: $0) }
    }
}

extension Rule {
    /// The most rules of a repository: each is held against every added line of every change.
    static let most = 200
}

extension PlanFinding {
    fileprivate static func tasks(_ message: String, workflow: String) -> PlanFinding {
        PlanFinding(rule: "tasks", workflow: workflow, message: message)
    }
}

extension TasksDeclaration {
    /// The longest wall-clock time of one try: a day.
    private static let longest: Double = 86_400

    fileprivate func furtherProblems(_ known: [WorkflowDeclaration]) -> [String] {
        var problems: [String] = []
        if !branch.isEmpty, !LandingDeclaration.isBranch(branch) {
            problems.append("\"\(branch)\" is not the name of one branch; write Tasks(into: \"main\", …)")
        }
        for name in Set((agents + [reviewer].compactMap { $0 }).map(\.name)).sorted() {
            if let problem = nameProblem(name) { problems.append("an agent of the tasks: \(problem)") }
        }
        if timeout > Self.longest {
            problems.append("a try of a task may take \(timeout) s; use at most a day: within: .hours(24)")
        }
        if let cost, !(cost > 0) { problems.append("tasks may cost \(cost) US dollars; use an amount above 0") }
        if let tokens, tokens < 1 { problems.append("tasks may use \(tokens) tokens; use a number above 0") }
        if let small {
            if small.files < 1 { problems.append("a small plan names at most \(small.files) files; use 1 or more") }
            if small.globs.isEmpty {
                problems.append(
                    "no plan is small, because no paths are named; write skipsApproval(upTo: 2, in: \"docs/**\")")
            }
            for glob in small.globs {
                do throws(GlobProblem) { _ = try Glob(glob) } catch { problems.append(error.description) }
            }
        }
        if Set(secrets).count < secrets.count { problems.append("tasks name a secret twice; remove one") }
        if let tell, tell.allSatisfy(\.isWhitespace) {
            problems.append("the line that tells reporters is empty; write tells(by: \"script/tell\")")
        }
        return problems + sources.compactMap { problem(with: $0, known) }
    }

    private func problem(with source: TaskSourceRule, _ known: [WorkflowDeclaration]) -> String? {
        switch source {
        case .issueLabel(let label):
            guard label.allSatisfy(\.isWhitespace) || label.utf8.count > 255 || label.contains(where: \.isNewline)
            else { return nil }
            return "the label of issues that make tasks is empty, too long or not one line"
        case .scheduledRun(let name):
            guard let workflow = known.first(where: { $0.name == name }) else {
                return "tasks begin when \"\(name)\" fails, but no workflow has this name; add it to `workflows`"
            }
            guard !workflow.triggers.contains(where: { $0.event == .schedule }) else { return nil }
            return
                "tasks begin when \"\(name)\" fails, but no schedule starts it; add on: .schedule(\"0 3 * * *\", on: \"\(branch)\")"
        case .testFlight(let testFlight):
            guard ![testFlight.app, testFlight.keyID].contains("") else {
                return "tasks from TestFlight need the app's identifier and a key id"
            }
            return SecretUse.problem(with: testFlight.key)
        case .crashEndpoint, .redTarget: return nil
        }
    }

    fileprivate func problems(passing workflow: WorkflowDeclaration) -> [String] {
        var problems: [String] = []
        if workflow.runsAtMostOnce {
            problems.append("tasks must pass it, but it is a release: it can't run before the change has landed")
        }
        for parameter in workflow.parameters where parameter.defaultValue == nil {
            problems.append("tasks must pass it, so its parameter \"\(parameter.name)\" needs a default")
        }
        if workflows.count(where: { $0 == workflow.name }) > 1 {
            problems.append("tasks must pass it twice; remove one")
        }
        return problems
    }
}
