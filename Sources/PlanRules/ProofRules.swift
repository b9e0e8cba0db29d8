import Pipeline

/// Checks what a step declares about its proofs: inputs, outputs and `neverProved`.
struct UsableProofs: PlanRule {
    static let name = "proof"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            if step.isNeverProved, !step.inputs.isEmpty {
                report(step.name, "it declares inputs but is never proved; remove .inputs(…) or .neverProved()")
            }
            if step.leavesNothing, !step.outputs.isEmpty {
                report(step.name, "it declares outputs and also that it has none; keep one of the two")
            }
            if step.inputsCoverNeeds {
                if !step.reads.isEmpty || step.commandLine.contains(StepVariable.valuesIn) {
                    report(
                        step.name,
                        "it reads values of other steps, which .inputs(only: …) would ignore; "
                            + "use .inputs(…)")
                }
                if !step.outputs.isEmpty {
                    report(
                        step.name,
                        ".inputs(only: …) is for steps without outputs, such as tests: outputs made with one build "
                            + "may not fit another; use .inputs(…), or .outputs() without patterns")
                }
            }
            for pattern in step.inputs + step.outputs where isInGit(pattern) {
                report(step.name, "\"\(pattern)\" is in .git, which can't be an input or output; remove it")
            }
        }
    }

    private func isInGit(_ pattern: String) -> Bool { pattern == ".git" || pattern.hasPrefix(".git/") }
}
