extension Plan {
    /// The names of a step and of all steps that it needs, directly or not.
    package func needs(of name: String) -> Set<String> {
        let steps = Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var found: Set<String> = []
        var waiting = [name]
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += steps[name]?.needs ?? [] }
        }
        return found
    }

    /// The names of all steps that need this one, directly or not.
    package func dependants(of name: String) -> Set<String> {
        var direct: [String: [String]] = [:]
        for step in steps { for need in step.needs { direct[need, default: []].append(step.name) } }
        var found: Set<String> = []
        var waiting = direct[name] ?? []
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += direct[name] ?? [] }
        }
        return found
    }
}
