import Pipeline

extension Plan {
    /// The plan without steps that have effects outside or wait for approval, and without those that need them: nobody
    /// requested the run.
    var withoutActing: Plan {
        var left: Set<String> = []
        var plan = self
        // In the plan's order a step comes after those that it needs.
        plan.steps = steps.filter { step in
            let acts = !step.secrets.isEmpty || !step.action.startsProcess || step.needs.contains(where: left.contains)
            if acts { left.insert(step.name) }
            return !acts
        }
        return plan
    }
}
