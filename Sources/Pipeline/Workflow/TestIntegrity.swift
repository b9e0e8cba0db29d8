/// A rule about how a change may alter tests or other files without an approval.
///
/// The rules are read from the target's definition, so a change can't set its own. A run that breaks one has the
/// verdict "needs approval"; `pipectl approve` clears it. docs/integrity.md says what each rule can and can't see.
public enum IntegrityRule: Sendable, Equatable, Codable {
    /// All rules of this list whose names begin with `no`.
    case standard
    /// No test is removed unless another test has taken over what it did.
    case noRemovedTests
    /// No test that ran is skipped, disabled, expected to fail, or compiled under a new condition.
    case noNewSkips
    /// No test asserts less, asserts something weaker, asserts only sometimes, or swallows errors.
    case noWeakerTests
    /// No test waits for a fixed time.
    case noAddedSleeps
    /// No test accepts a larger difference or a longer time.
    case noWiderTolerances
    /// No manifest and no runner's settings leave out tests: `exclude`, `--skip`, `-k`.
    case noHiddenTests
    /// Recorded results are not edited unless sources are.
    case noLoneSnapshots
    /// No path that matches one of these globs is changed.
    case untouched([String])
    /// If a path matching the first globs is changed, a path matching the second ones must be changed, too.
    case companions(of: [String], are: [String])
    /// The change adds and removes at most `lines` lines, in at most `files` files.
    case atMost(lines: Int, files: Int?)

    /// No path that matches one of these globs is changed.
    public static func untouched(_ globs: String...) -> IntegrityRule { .untouched(globs) }

    /// If sources change, tests must change: `.changing("Sources/**", requires: "Tests/**")`.
    public static func changing(_ globs: String..., requires companions: String...) -> IntegrityRule {
        .companions(of: globs, are: companions)
    }

    /// The change adds and removes at most `lines` lines.
    public static func atMost(lines: Int) -> IntegrityRule { .atMost(lines: lines, files: nil) }

    /// The rules that ``standard`` stands for.
    public static let standardRules: [IntegrityRule] = [
        .noRemovedTests, .noNewSkips, .noWeakerTests, .noAddedSleeps, .noWiderTolerances, .noHiddenTests,
        .noLoneSnapshots,
    ]

    /// The globs that the rule contains.
    public var globs: [String] {
        switch self {
        case .untouched(let globs): globs
        case .companions(let globs, let companions): globs + companions
        default: []
        }
    }
}

extension Workflow {
    /// Says what a change may not do without an approval. Without arguments: ``IntegrityRule/standard``.
    ///
    /// The sources of the change are compared with the target's; they are read, never executed. Then the run's results
    /// are compared with the target's. A run that breaks a rule and otherwise passes ends as "needs approval".
    public func testIntegrity(_ rules: IntegrityRule...) -> Workflow {
        var copy = self
        copy.declaration.integrity = (copy.declaration.integrity ?? []) + (rules.isEmpty ? [.standard] : rules)
        return copy
    }
}
