import Store
package import Results
package import Pipeline
import WorkflowPrograms

/// Runs of some tests only.
extension Plan {
    /// The plan whose steps run only these tests.
    ///
    /// - Parameter steps: The requested steps; nil for the only one with a test filter.
    /// - Throws: ``DefinitionError`` if no step, or several, could run them.
    package func running(_ tests: [KnownTest], in steps: [String]?) throws -> Plan {
        let wanted = steps.map(Set.init)
        // Named tests are not divided: the first part runs them all.
        let plan = joiningParts()
        let able = plan.steps.filter { $0.testRunner != nil && (wanted.map($0.isAmong) ?? true) }
        let names = able.map { "\"\($0.name)\"" }.joined(separator: ", ")
        guard !able.isEmpty else {
            let place = steps.map { $0.map { "\"\($0)\"" }.joined(separator: ", ") } ?? "any step of \"\(workflow)\""
            throw DefinitionError(
                .invalid,
                "there is no test filter in \(place): leave out --tests, or write .testFilter(…) "
                    + "in workflows/ if the command accepts test names")
        }
        guard steps != nil || able.count == 1 else {
            throw DefinitionError(.invalid, "\(names) have a test filter: name one with --step")
        }
        var narrowed = try steps == nil ? plan.keeping(able.map(\.name)) : plan
        for index in narrowed.steps.indices where able.contains(where: { $0.name == narrowed.steps[index].name }) {
            let step = narrowed.steps[index]
            guard var one = step.running(tests) else {
                let list = tests.map(\.id).joined(separator: ", ")
                throw DefinitionError(
                    .invalid,
                    "step \"\(step.name)\" can't select \(list): no earlier run has a test of that name, "
                        + "and its tool takes only whole names. `pipectl report RUN` lists the tests of a run")
            }
            (one.testFilter, one.isNeverProved) = (step.testRunner, true)
            narrowed.steps[index] = one
        }
        return narrowed
    }

    /// By step, the tests that a request selects.
    package func narrowed(by request: RunRequest) -> [String: [KnownTest]] {
        guard let tests = request.onlyTests else { return [:] }
        let asked = request.onlySteps.map(Set.init)
        let told = steps.filter { $0.testRunner != nil && (asked.map($0.isAmong) ?? true) }
        return Dictionary(told.map { ($0.name, tests) }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of the parts of a divided step; nil if `name` is none.
    ///
    /// A part whose tests are listed stands for all parts, because the list is divided anew in each run.
    func parts(of name: String) -> [String]? {
        let listed = steps.first { $0.name == name && $0.shard?.list != nil }?.shard?.step
        let parts = steps.filter { $0.shard?.step == listed ?? name }.map(\.name)
        return parts.isEmpty ? nil : parts
    }

    /// The plan in which the first part of each divided step that can be told its tests is the whole step.
    private func joiningParts() -> Plan {
        var plan = self
        let divided = Set(steps.compactMap { $0.shard?.number == 1 && $0.testRunner != nil ? $0.shard?.step : nil })
        let gone = Set(
            steps.filter { step in step.shard.map { $0.number > 1 && divided.contains($0.step) } ?? false }.map(\.name))
        plan.steps.removeAll { gone.contains($0.name) }
        for index in plan.steps.indices {
            plan.steps[index].needs.removeAll(where: gone.contains)
            if let step = plan.steps[index].shard?.step, divided.contains(step) { plan.steps[index].shard?.count = 1 }
        }
        return plan
    }
}

extension PlannedStep {
    /// Whether the step, or the step that it is a part of, has one of these names.
    fileprivate func isAmong(_ names: Set<String>) -> Bool {
        names.contains(name) || shard.map { names.contains($0.step) } ?? false
    }
}
