extension LandingDeclaration {
    static let batchSizes = 1...64
    static let depths = 1...32
    static let attemptCounts = 1...10

    /// Everything that is wrong with the rules of landing, apart from the workflows themselves.
    static func validate(_ landings: [LandingDeclaration], _ workflows: [WorkflowDeclaration]) -> [PlanFinding] {
        var findings: [PlanFinding] = []
        var branches: Set<String> = []
        func report(_ workflow: String, _ message: String) {
            findings.append(PlanFinding(rule: "landing", workflow: workflow, message: message))
        }
        for landing in landings {
            for message in landing.problems { report("", message) }
            if !branches.insert(landing.branch).inserted {
                report("", "two landings have the branch \"\(landing.branch)\"; remove one")
            }
            for name in landing.workflows {
                guard let workflow = workflows.first(where: { $0.name == name }) else {
                    report(name, "the landing into \"\(landing.branch)\" requires it; add it to `workflows`")
                    continue
                }
                if workflow.runsAtMostOnce {
                    report(
                        name,
                        "the landing into \"\(landing.branch)\" requires it, but it is a release: it can't run before "
                            + "the change has landed")
                }
                for parameter in workflow.parameters where parameter.defaultValue == nil {
                    report(
                        name,
                        "the landing into \"\(landing.branch)\" requires it, so its parameter \"\(parameter.name)\" "
                            + "needs a default")
                }
            }
        }
        return findings
    }

    /// What is wrong with these rules alone.
    private var problems: [String] {
        var problems: [String] = []
        if let problem = nameProblem(branch.split(separator: "/").joined(separator: " ")) {
            problems.append("the branch of a landing can't be used: \(problem)")
        } else if branch.contains(where: { "*?[{\\~^: ".contains($0) }) || branch.hasPrefix("refs/") {
            problems.append("\"\(branch)\" is not the name of one branch; write a landing for each branch")
        }
        if workflows.isEmpty {
            problems.append("the landing into \"\(branch)\" requires no workflow; add one: requires: [test]")
        }
        if Set(workflows).count < workflows.count {
            problems.append("the landing into \"\(branch)\" requires a workflow twice; remove one")
        }
        func check(_ value: Int, _ range: ClosedRange<Int>, _ name: String) {
            guard !range.contains(value) else { return }
            problems.append(
                "\(name) of the landing into \"\(branch)\" is \(value); use \(range.lowerBound) to \(range.upperBound)")
        }
        check(batchSize, Self.batchSizes, "the batch size")
        check(depth, Self.depths, "the depth")
        check(attempts, Self.attemptCounts, "the number of attempts")
        return problems
    }
}
