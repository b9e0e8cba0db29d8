import Pipeline

struct NotEmpty: PlanRule {
    static let name = "empty-workflow"
    static let limit = 10_000
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        if plan.steps.isEmpty {
            report(
                nil,
                "it has no steps; write Step(\"name\", run: \"…\"), and list a step or release that is made with let: its "
                    + "name on a line of its own")
        }
        if plan.steps.count > NotEmpty.limit { report(nil, "it has \(plan.steps.count) steps; the limit is 10,000") }
    }
}

struct UsableNames: PlanRule {
    static let name = "step-name"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps { if let reason = nameProblem(step.name) { report(step.name, reason) } }
    }
}

struct UniqueNames: PlanRule {
    static let name = "duplicate-step"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        var counts: [String: Int] = [:]
        for step in plan.steps { counts[step.name, default: 0] += 1 }
        for step in plan.steps {
            guard let count = counts.removeValue(forKey: step.name), count > 1 else { continue }
            report(
                step.name,
                "\(count) different steps have this name; rename all but one, or make the step once, with let, and use that"
            )
        }
    }
}

/// Workflows always satisfy this, because they bring the steps that theirs need. A plan from another source may not.
struct KnownNeeds: PlanRule {
    static let name = "unlisted-need"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        let listed = Set(plan.steps.map(\.name))
        for step in plan.steps {
            for need in step.needs where !listed.contains(need) {
                report(step.name, "it needs \"\(need)\", which is not a step of the plan; add it")
            }
        }
    }
}

struct NoCycles: PlanRule {
    static let name = "cycle"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        var needs: [String: [String]] = [:]
        for step in plan.steps { needs[step.name, default: []] += step.needs }
        enum Mark { case entered, left }
        var marks: [String: Mark] = [:]
        // An explicit stack: a plan from another source may be deeper than this thread's stack allows.
        for start in plan.steps.map(\.name) where marks[start] == nil {
            var path: [(name: String, next: Int)] = [(start, 0)]
            marks[start] = .entered
            while let top = path.last {
                let wanted = needs[top.name] ?? []
                guard top.next < wanted.count else {
                    marks[top.name] = .left
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let need = wanted[top.next]
                switch marks[need] {
                case .entered:
                    let from = path.firstIndex { $0.name == need } ?? 0
                    let names = path[from...].map(\.name) + [need]
                    report(need, "it waits for itself: \(names.joined(separator: " → "))")
                    return
                case .left: continue
                case nil:
                    guard needs[need] != nil else { continue }
                    marks[need] = .entered
                    path.append((need, 0))
                }
            }
        }
    }
}

/// A value may be read only where the step that publishes it has certainly ended before.
struct PublishedValues: PlanRule {
    static let name = "unpublished-value"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        var publishers: [String: [String]] = [:]
        for step in plan.steps {
            for value in step.publishes {
                if let reason = nameProblem(value) { report(step.name, reason) }
                publishers[value, default: []].append(step.name)
            }
        }
        for (value, names) in publishers.sorted(by: { $0.key < $1.key }) where names.count > 1 {
            report(
                names[1], "\"\(value)\" is published by \(names.joined(separator: " and ")); one step may publish it")
        }
        guard plan.steps.contains(where: { !$0.reads.isEmpty }) else { return }
        let published = PublishedBefore(plan, values: publishers.keys.sorted())
        for (index, step) in plan.steps.enumerated() {
            for value in step.reads {
                guard let names = publishers[value] else {
                    report(
                        step.name,
                        "it reads \"\(value)\", which no step publishes; add .publishes(…) to the one that does")
                    continue
                }
                if !published.has(value, before: index) {
                    report(
                        step.name,
                        "it reads \"\(value)\" of step \"\(names[0])\" but does not need that step; add it to needs:")
                }
            }
        }
    }
}

/// Which values have certainly been published when a step starts: one pass over the graph, with one bit for each value.
///
/// A separate search for each reader would take minutes for 10,000 steps in a row.
private struct PublishedBefore {
    private let bits: [String: Int]
    private var before: [[UInt64]]
    private var waitsFor: [Int]

    init(_ plan: Plan, values: [String]) {
        bits = Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0.element, $0.offset) })
        before = Array(
            repeating: Array(repeating: 0, count: (values.count + 63) / 64), count: plan.steps.count)
        let indices = Dictionary(plan.steps.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in first }
        waitsFor = plan.steps.map { step in step.needs.reduce(0) { $0 + (indices[$1] == nil ? 0 : 1) } }
        var neededBy: [[Int]] = Array(repeating: [], count: plan.steps.count)
        for (index, step) in plan.steps.enumerated() {
            for need in step.needs { if let needed = indices[need] { neededBy[needed].append(index) } }
        }
        // Steps of a cycle, and steps behind it, never become ready.
        var ready = waitsFor.indices.filter { waitsFor[$0] == 0 }
        while let index = ready.popLast() {
            var after = before[index]
            for value in plan.steps[index].publishes { if let bit = bits[value] { after[bit / 64] |= 1 << (bit % 64) } }
            for next in neededBy[index] {
                for word in after.indices { before[next][word] |= after[word] }
                waitsFor[next] -= 1
                if waitsFor[next] == 0 { ready.append(next) }
            }
        }
    }

    /// Also true for steps of a cycle: the rule against cycles reports those.
    func has(_ value: String, before index: Int) -> Bool {
        if waitsFor[index] > 0 { return true }
        return bits[value].map { before[index][$0 / 64] & (1 << ($0 % 64)) != 0 } ?? false
    }
}
