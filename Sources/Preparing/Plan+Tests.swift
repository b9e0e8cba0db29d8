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
        let able = self.steps.filter { $0.testRunner != nil && wanted?.contains($0.name) ?? true }
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
        var plan = try steps == nil ? keeping(able.map(\.name)) : self
        for index in plan.steps.indices where able.contains(where: { $0.name == plan.steps[index].name }) {
            guard let narrowed = plan.steps[index].running(tests) else {
                let list = tests.map(\.id).joined(separator: ", ")
                throw DefinitionError(
                    .invalid,
                    "step \"\(plan.steps[index].name)\" can't select \(list): no earlier run has a test of that name, "
                        + "and its tool takes only whole names. `pipectl report RUN` lists the tests of a run")
            }
            let runner = plan.steps[index].testRunner
            plan.steps[index] = narrowed
            plan.steps[index].testFilter = runner
            plan.steps[index].isNeverProved = true
        }
        return plan
    }

    /// By step, the tests that a request selects.
    package func narrowed(by request: RunRequest) -> [String: [KnownTest]] {
        guard let tests = request.onlyTests else { return [:] }
        let asked = request.onlySteps.map(Set.init)
        let told = steps.filter { $0.testRunner != nil && asked?.contains($0.name) ?? true }
        return Dictionary(told.map { ($0.name, tests) }, uniquingKeysWith: { first, _ in first })
    }
}
