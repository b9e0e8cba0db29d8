/// Which runs of a workflow wait for an approval before their first step.
public struct ApprovalRule: Sendable, Equatable, Codable {
    /// True: every run waits, also those of merged code.
    public var isAlways: Bool
    /// Runs of changes wait if a changed path matches one of these globs.
    public var paths: [String]

    /// A rule; without arguments no run waits.
    public init(isAlways: Bool = false, paths: [String] = []) {
        self.isAlways = isAlways
        self.paths = paths
    }
}

extension Workflow {
    /// Makes every run wait for `pipectl approve`, also runs of merged code: for releases and deployments.
    public func needsApproval() -> Workflow { with { $0.isAlways = true } }

    /// Makes changes that touch a path matching one of these globs wait for `pipectl approve`.
    ///
    /// Merged code does not wait, because whoever merged it has seen it. The rule is read from the target, so a change
    /// can't remove it.
    public func needsApproval(ifChanged globs: String...) -> Workflow { with { $0.paths += globs } }

    private func with(_ change: (inout ApprovalRule) -> Void) -> Workflow {
        var copy = self
        var rule = declaration.approval ?? ApprovalRule()
        change(&rule)
        copy.declaration.approval = rule
        return copy
    }
}
