/// Which refs of a repository are changes, which branches are protected, and what a person is asked about.
package struct TrustRules: Sendable {
    package var policy = TrustPolicy.standard
    package var changeRefs = ChangeRefs.standard
    /// The branch that changes want into.
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
