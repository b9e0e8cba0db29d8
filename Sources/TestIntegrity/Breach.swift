/// Something a change does that needs a person's approval, with the place where it does it.
public struct Breach: Sendable, Equatable {
    /// How certain the finding is.
    public enum Certainty: String, Sendable {
        /// The source shows it.
        case seen
        /// The source can't be read, or its effect depends on facts that it does not show.
        case unclear
    }

    /// The kind, which names the finding: `integrity-removed-test`.
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
    /// `Suite.test`, if it is about one test.
    public var test: String?
    /// What happened, with the values. It quotes the change, so it is untrusted text.
    public var message: String
    public var file: String
    /// From 1; the line in the target's version of the file if the test was removed.
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
