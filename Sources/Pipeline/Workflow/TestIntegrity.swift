/// What a change may not do to the tests, or at all, without a person's word.
///
/// Read from the definition of the target, so that no change sets its own rules. A breach is the verdict "needs approval";
/// `pipectl approve` clears it. What each rule sees and what it can't see is in docs/integrity.md.
public enum IntegrityRule: Sendable, Equatable, Codable {
    /// All rules below whose names begin with `no`.
    case standard
    /// A test is gone, and no other test has taken over what it did.
    case noRemovedTests
    /// A test that ran is skipped, disabled, expected to fail, or compiled under a new condition.
    case noNewSkips
    /// A test asserts less, asserts something weaker, asserts it only sometimes, or swallows errors.
    case noWeakerTests
    /// A test waits for a time.
    case noAddedSleeps
    /// A test accepts a larger difference or a longer time.
    case noWiderTolerances
    /// A manifest or a runner's settings leave tests out: `exclude`, `--skip`, `-k`.
    case noHiddenTests
    /// Recorded results are edited and no source is.
    case noLoneSnapshots
    /// No path that matches one of these globs is touched.
    case untouched([String])
    /// Where a path matches one of the first globs, one of the second ones must change with it.
    case companions(of: [String], are: [String])
    /// The change adds and removes at most so many lines, in at most so many files.
    case atMost(lines: Int, files: Int?)

    /// No path that matches one of these globs is touched.
    public static func untouched(_ globs: String...) -> IntegrityRule { .untouched(globs) }

    /// Source changed, tests must: `.changing("Sources/**", requires: "Tests/**")`.
    public static func changing(_ globs: String..., requires companions: String...) -> IntegrityRule {
        .companions(of: globs, are: companions)
    }

    /// The change adds and removes at most so many lines.
    public static func atMost(lines: Int) -> IntegrityRule { .atMost(lines: lines, files: nil) }

    /// The rules that ``standard`` stands for.
    public static let standardRules: [IntegrityRule] = [
        .noRemovedTests, .noNewSkips, .noWeakerTests, .noAddedSleeps, .noWiderTolerances, .noHiddenTests,
        .noLoneSnapshots,
    ]

    /// What it says of paths.
    public var globs: [String] {
        switch self {
        case .untouched(let globs): globs
        case .companions(let globs, let companions): globs + companions
        default: []
        }
    }
}

extension Workflow {
    /// Says what a change may not do without a person's word; without arguments, ``IntegrityRule/standard``.
    ///
    /// The sources are read, never run: the change held against its target; then the results of the run against those of
    /// the target's. A run that breaks a rule and passes otherwise ends as "needs approval".
    public func testIntegrity(_ rules: IntegrityRule...) -> Workflow {
        var copy = self
        copy.declaration.integrity = (copy.declaration.integrity ?? []) + (rules.isEmpty ? [.standard] : rules)
        return copy
    }
}
