import Pipeline
import PlanRules

extension ProgramDescription {
    /// Everything that is wrong with the workflows' names, triggers, parameters and settings, and with the landings, the
    /// tasks and the rules.
    func validate() -> [PlanFinding] {
        WorkflowDeclaration.validate(workflows) + (landings ?? []).flatMap { $0.findings(workflows) } + repeatedLandings
            + taskFindings + ruleFindings
    }

    private var repeatedLandings: [PlanFinding] {
        let branches = (landings ?? []).map(\.branch)
        let repeated = Set(branches.filter { branch in branches.count { $0 == branch } > 1 })
        return repeated.sorted().map { .landing("two landings have the branch \"\($0)\"; remove one") }
    }
}

extension PlanFinding {
    fileprivate static func landing(_ message: String, workflow: String = "") -> PlanFinding {
        PlanFinding(rule: "landing", workflow: workflow, message: message)
    }
}

extension LandingDeclaration {
    /// What is wrong with the landing, given the workflows of the list.
    fileprivate func findings(_ known: [WorkflowDeclaration]) -> [PlanFinding] {
        problems.map { .landing($0) }
            + Set(workflows).sorted().flatMap { name -> [PlanFinding] in
                guard let workflow = known.first(where: { $0.name == name }) else {
                    return [
                        .landing("the landing into \"\(branch)\" requires it; add it to `workflows`", workflow: name)
                    ]
                }
                return problems(requiring: workflow).map { .landing($0, workflow: name) }
            }
    }

    private func problems(requiring workflow: WorkflowDeclaration) -> [String] {
        var problems: [String] = []
        if workflow.runsAtMostOnce {
            problems.append(
                "the landing into \"\(branch)\" requires it, but it is a release: it can't run before the change has landed"
            )
        }
        for parameter in workflow.parameters where parameter.defaultValue == nil {
            problems.append(
                "the landing into \"\(branch)\" requires it, so its parameter \"\(parameter.name)\" needs a default")
        }
        return problems
    }

    private var problems: [String] {
        var problems: [String] = []
        if !Self.isBranch(branch) {
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
        check(batchSize, 1...64, "the batch size")
        check(depth, 1...32, "the depth")
        check(attempts, 1...10, "the number of attempts")
        if let label, !Self.isLabel(label) {
            problems.append("the label of the landing into \"\(branch)\" is empty, too long or not one line")
        }
        return problems
    }

    private static func isLabel(_ name: String) -> Bool {
        !name.allSatisfy(\.isWhitespace) && name.utf8.count <= 255 && !name.unicodeScalars.contains { $0.value < 0x20 }
    }

    /// Whether Git would take it as the name of a branch: git-check-ref-format(1).
    static func isBranch(_ name: String) -> Bool {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && !"*?[{\\~^:".unicodeScalars.contains($0)
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return isPlain && name.utf8.count <= 200 && !name.hasPrefix("refs/") && !name.hasPrefix("-")
            && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && !$0.hasSuffix(".lock") && !$0.contains("..") }
    }
}
