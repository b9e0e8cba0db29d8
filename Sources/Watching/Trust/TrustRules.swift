/// The rules for a repository: which refs are changes, which branches are protected, and what needs approval.
package struct TrustRules: Sendable {
    package var policy = TrustPolicy.standard
    package var changeRefs = ChangeRefs.standard
    /// The target of changes.
    package var target = TargetRule()

    package init(
        policy: TrustPolicy = TrustPolicy.standard, changeRefs: ChangeRefs = ChangeRefs.standard,
        target: TargetRule = TargetRule()
    ) {
        self.policy = policy
        self.changeRefs = changeRefs
        self.target = target
    }
}
