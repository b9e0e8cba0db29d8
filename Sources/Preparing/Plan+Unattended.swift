package import Pipeline

extension Plan {
    /// The plan without steps that have effects outside or wait for approval, and without those that need them: nobody
    /// requested the run, or it has nothing to release.
    package var withoutActing: Plan { without { !$0.secrets.isEmpty || !$0.action.startsProcess } }

    /// The plan without steps that make or publish a release or have secrets, those that need them, and approvals that
    /// nothing else needs.
    var withoutReleasing: Plan {
        var plan = without { $0.releases || !$0.secrets.isEmpty }
        var needed: Set<String> = []
        plan.steps = plan.steps.reversed().filter { step in
            if step.action == .approval, !needed.contains(step.name) { return false }
            needed.formUnion(step.needs)
            return true
        }.reversed()
        return plan
    }

    /// Whether a step makes or publishes a release.
    package var releases: Bool { steps.contains(where: \.releases) }

    private func without(_ isLeft: (PlannedStep) -> Bool) -> Plan {
        var left: Set<String> = []
        var plan = self
        // In the plan's order a step comes after those that it needs.
        plan.steps = steps.filter { step in
            let isOut = isLeft(step) || step.needs.contains(where: left.contains)
            if isOut { left.insert(step.name) }
            return !isOut
        }
        return plan
    }
}

extension PlannedStep {
    /// Whether it makes or publishes a release.
    fileprivate var releases: Bool {
        switch action {
        case .release, .publish: true
        case .shell, .command, .closure, .approval: false
        }
    }
}
