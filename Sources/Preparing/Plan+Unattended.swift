import Pipeline

extension Plan {
    /// Without the steps that act on the world or wait for a person, and without what needs them: nobody asked for the
    /// run.
    var withoutActing: Plan {
        var left: Set<String> = []
        var plan = self
        // In plan order a step comes after what it needs.
        plan.steps = steps.filter { step in
            let acts = !step.secrets.isEmpty || step.action == .approval || step.needs.contains(where: left.contains)
            if acts { left.insert(step.name) }
            return !acts
        }
        return plan
    }
}
