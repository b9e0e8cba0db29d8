/// Something that a change may not do without a person's word, where it did it.
public struct Breach: Sendable, Equatable {
    /// How sure it is.
    public enum Certainty: String, Sendable {
        /// It is written there.
        case seen
        /// It can't be read, or what it comes to depends on what only a person knows.
        case unclear
    }

    /// What a finding is filed under: `integrity-removed-test`.
    public enum Kind: String, Sendable, CaseIterable {
        case removedTest = "removed-test"
        case skippedTest = "skipped-test"
        case weakerTest = "weaker-test"
        case fewerCases = "fewer-cases"
        case addedSleep = "added-sleep"
        case widerTolerance = "wider-tolerance"
        case hiddenTests = "hidden-tests"
        case loneSnapshot = "lone-snapshot"
        case touchedPath = "touched-path"
        case missingCompanion = "missing-companion"
        case largeChange = "large-change"
        case unreadable = "unreadable"
    }

    public var kind: Kind
    public var certainty: Certainty
    /// `Suite.test`, where it is about one.
    public var test: String?
    /// What happened, with the values; quotes the change.
    public var message: String
    public var file: String
    /// From 1; in the target's version of the file where the test is gone.
    public var line: Int?

    public init(
        _ kind: Kind, _ certainty: Certainty = .seen, test: String? = nil, message: String, file: String,
        line: Int? = nil
    ) {
        self.kind = kind
        self.certainty = certainty
        self.test = test
        self.message = message
        self.file = file
        self.line = line
    }
}
