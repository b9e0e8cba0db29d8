public import Pipeline

/// A mistake in a workflow that the compiler can't see, and what to do about it.
public struct PlanFinding: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The rule's name. It is stable, so that code can switch on it.
    public var rule: String
    /// The workflow's name; empty if the finding is about the whole list.
    public var workflow: String
    /// The step's name; nil if the finding is about the workflow.
    public var step: String?
    /// What is wrong and what to do next, in one sentence.
    public var message: String

    public init(rule: String, workflow: String, step: String? = nil, message: String) {
        self.rule = rule
        self.workflow = workflow
        self.step = step
        self.message = message
    }

    public var description: String {
        (workflow.isEmpty ? "" : "workflow \"\(workflow)\"" + (step.map { ", step \"\($0)\"" } ?? "") + ": ")
            + "\(message) [\(rule)]"
    }
}

/// One check that every plan must pass before anything runs.
protocol PlanRule: Sendable {
    static var name: String { get }
    func check(_ plan: Plan, _ report: (_ step: String?, _ message: String) -> Void)
}

extension Plan {
    static let rules: [any PlanRule] = [
        NotEmpty(), UsableNames(), UniqueNames(), KnownNeeds(), NoCycles(), UsableGlobs(), UsableActions(),
        UsableLimits(), UsableCaches(), UsableFolders(), UsableEnvironment(), UsableSecrets(), ConsistentResources(),
        PublishedValues(), UsableApprovals(), UsableReleases(), UsableProofs(), UsableMachines(), UsableTogether(),
        UsableShards(), NoPlaceholders(),
    ]

    /// Everything that is wrong with the plan. An empty array means that it can run.
    public func validate() -> [PlanFinding] {
        // A plan may come from another program. One that is too large is not examined in detail.
        let rules: [any PlanRule] = steps.count > NotEmpty.limit ? [NotEmpty()] : Plan.rules
        return rules.flatMap { rule in
            var findings: [PlanFinding] = []
            rule.check(self) { step, message in
                findings.append(
                    PlanFinding(rule: type(of: rule).name, workflow: workflow, step: step, message: message))
            }
            return findings
        }
    }
}

/// Why a name can't be shown, stored or typed; nil for a usable name.
package func nameProblem(_ name: String) -> String? {
    if name.isEmpty { return "a name is empty" }
    if name.utf8.count > 200 { return "the name \"\(name.prefix(40))…\" is longer than 200 bytes" }
    if name.first == " " || name.last == " " { return "the name \"\(name)\" starts or ends with a space; remove it" }
    if let first = name.first, "-.".contains(first) {
        return "the name \"\(name)\" starts with \"\(first)\"; let it start with a letter or digit"
    }
    let refused = name.unicodeScalars.first { scalar in
        scalar.value < 0x20 || scalar.value == 0x7f || scalar == "/" || scalar == "\\"
            || scalar.properties.generalCategory == .format || scalar.properties.generalCategory == .control
            || scalar.properties.generalCategory == .lineSeparator
            || scalar.properties.generalCategory == .paragraphSeparator
    }
    if let refused {
        return
            "the name contains U+\(String(refused.value, radix: 16, uppercase: true)); use letters, digits, spaces, - and _"
    }
    return nil
}
