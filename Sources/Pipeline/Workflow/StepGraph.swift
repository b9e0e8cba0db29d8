/// The steps of a workflow: those that it lists, in their order, and the steps that they need.
///
/// A step that is needed but not listed comes directly before the first step that needs it. A step that occurs several
/// times is taken once. Two different steps with the same name are both taken; the rules for plans report them.
struct StepGraph {
    private(set) var steps: [Step] = []
    private let listed: [Step]
    /// Indices in ``listed``, by step name.
    private var listedOfName: [String: [Int]] = [:]
    /// Indices in ``steps``, by step name.
    private var takenOfName: [String: [Int]] = [:]
    /// The needs that were already visited: each step's needs are visited once, however many steps need it.
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

    /// Listing the same step twice counts once. Two steps that are only written alike remain two: a loop in which all
    /// steps have the same name is a mistake.
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

    /// Takes the steps that a step needs, deepest first. The stack is explicit, because a chain may be longer than this
    /// thread's stack allows.
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

    /// Whether the workflow lists this step. Then it is taken at that place, where modifiers may be added:
    /// `build.timeout(.minutes(5))`.
    private func isListed(_ step: Step) -> Bool {
        listedOfName[step.name, default: []].contains { listed[$0].needed === step.needed }
    }

    /// Takes a step that another one needs, unless it was taken already or the workflow lists it.
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
    /// Whether both do the same. Closures can't be compared: two are the same only if they come from one `Step(…)`.
    /// Commands are also the same if they were made by two calls of a function.
    fileprivate func isSame(as other: Step) -> Bool {
        planned == other.planned && (needed === other.needed || body == nil && other.body == nil)
    }
}
