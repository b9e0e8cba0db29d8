/// When a run of a workflow waits for a person before its first step.
public struct ApprovalRule: Sendable, Equatable, Codable {
    /// Every run, merged code too.
    public var isAlways: Bool
    /// Changes that touch a path matching one of these globs.
    public var paths: [String]

    public init(isAlways: Bool = false, paths: [String] = []) {
        self.isAlways = isAlways
        self.paths = paths
    }
}

extension Workflow {
    /// Lets every run wait until a person has said `pipectl approve`, merged code too: for what acts on the world.
    public func needsApproval() -> Workflow { with { $0.isAlways = true } }

    /// Lets changes wait for `pipectl approve` that touch a path matching one of these globs.
    ///
    /// Merged code does not wait: whoever merged it has seen it. The rule is the target's; a change can't lift it.
    public func needsApproval(ifChanged globs: String...) -> Workflow { with { $0.paths += globs } }

    private func with(_ change: (inout ApprovalRule) -> Void) -> Workflow {
        var copy = self
        var rule = declaration.approval ?? ApprovalRule()
        change(&rule)
        copy.declaration.approval = rule
        return copy
    }
}
