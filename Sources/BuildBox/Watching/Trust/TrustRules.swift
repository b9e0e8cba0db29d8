/// Which refs of a repository are changes, which branches are protected, and what a person is asked about.
struct TrustRules: Sendable {
    var policy = TrustPolicy.standard
    var changeRefs = ChangeRefs.standard
    /// The branch that changes want into.
    var target = TargetRule()
}
