/// The steps of a workflow: those it lists, in their order, and what they need, listed or not.
///
/// A step that is not listed comes directly before the first one that needs it. A step that is met again is taken once.
/// Two different steps of one name are both taken, and the rules for plans report them.
struct StepGraph {
    private(set) var steps: [Step] = []
    private let listed: [Step]
    /// Where a name's steps stand in ``listed``.
    private var listedOfName: [String: [Int]] = [:]
    /// Where a name's steps stand in ``steps``, as far as they are there.
    private var takenOfName: [String: [Int]] = [:]
    /// What has been looked into: the needs of a step are looked at once, however many steps need it.
    private var entered: Set<ObjectIdentifier> = []

    init(listing steps: [Step]) {
        listed = steps
        for (index, step) in listed.enumerated() { listedOfName[step.name, default: []].append(index) }
        var kept: Set<Int> = []
        for (name, indices) in listedOfName where indices.count > 1 {
            listedOfName[name] = StepGraph.distinct(indices, of: listed)
        }
        for indices in listedOfName.values { kept.formUnion(indices) }
        for (index, step) in listed.enumerated() where kept.contains(index) {
            takeNeeds(of: step)
            append(step)
        }
    }

    /// Listing one step twice is listing it once. Two steps that are only written alike stay two: a loop whose steps all
    /// have one name is a mistake.
    private static func distinct(_ indices: [Int], of steps: [Step]) -> [Int] {
        var kept: [Int] = []
        for index in indices {
            let step = steps[index]
            if kept.contains(where: { steps[$0].needed === step.needed && steps[$0].planned == step.planned }) {
                continue
            }
            kept.append(index)
        }
        return kept
    }

    /// Takes what a step needs, deepest first. An explicit stack: a chain may be longer than this thread's allows.
    private mutating func takeNeeds(of step: Step) {
        guard entered.insert(ObjectIdentifier(step.needed)).inserted else { return }
        var path = [(step: step, needs: step.needed.steps, next: 0)]
        while let top = path.last {
            guard top.next < top.needs.count else {
                path.removeLast()
                if !path.isEmpty { takeNeeded(top.step) }
                continue
            }
            path[path.count - 1].next += 1
            let need = top.needs[top.next]
            if isListed(need) { continue }
            if entered.insert(ObjectIdentifier(need.needed)).inserted {
                path.append((need, need.needed.steps, 0))
            } else {
                takeNeeded(need)
            }
        }
    }

    /// Whether this step has a place of its own in the list; what it needs is taken there. Modifiers may be added where
    /// it is listed: `build.timeout(.minutes(5))`.
    private func isListed(_ step: Step) -> Bool {
        listedOfName[step.name, default: []].contains { listed[$0].needed === step.needed }
    }

    /// Takes a step that is not listed and that another one needs, unless it is there or comes with the list.
    private mutating func takeNeeded(_ step: Step) {
        if listedOfName[step.name, default: []].contains(where: { step.isSame(as: listed[$0]) }) { return }
        if takenOfName[step.name, default: []].contains(where: { step.isSame(as: steps[$0]) }) { return }
        append(step)
    }

    private mutating func append(_ step: Step) {
        takenOfName[step.name, default: []].append(steps.count)
        steps.append(step)
    }
}

extension Step {
    /// Whether both do the same. Closures can't be compared, so those are the same only where they come from one
    /// `Step(…)`; commands also where two calls of a function have made them.
    fileprivate func isSame(as other: Step) -> Bool {
        planned == other.planned && (needed === other.needed || body == nil && other.body == nil)
    }
}
