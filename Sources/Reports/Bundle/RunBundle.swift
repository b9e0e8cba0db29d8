public import Results

/// What must change before a run passes, as one bounded document for whoever is to change it: a person, an agent.
///
/// It is made by ``BundleDraft/fit(bytes:as:)``, which gives up details and then what matters least until it fits.
/// Texts are cut at whole lines and sentences only, and ``leftOut`` says what is missing. As JSON it follows
/// ``BundleSchema``; unknown keys are to be passed over.
public struct RunBundle: Sendable, Equatable, Codable {
    public static let currentSchemaVersion = 1

    public var schemaVersion = RunBundle.currentSchemaVersion
    public var run: RunID
    public var repository: String
    public var workflow: String
    /// What is tested, as a person would say it: `change 7 into main`.
    public var subject: String
    /// The change's own commit, the branch it wants into, and that branch's commit; nil for a run of a ref.
    public var change: ChangeFacts?
    /// The commit that was tested; nil if none was made.
    public var testedCommit: String?
    /// Nil while the run goes on: then ``problems`` are those seen so far.
    public var verdict: Verdict?
    /// Why, in a sentence.
    public var reason: String
    /// The exit code of a command that waits for this verdict; nil while the run goes on.
    public var exitCode: Int32?
    /// What is wrong, what matters most first.
    public var problems: [Problem]
    /// Beside the target; nil where nothing is known of it.
    public var comparison: Counts?
    /// What was done about its failure by the workflow's fixer; nil for nothing.
    public var fix: FixFacts?
    /// What passed, in one line.
    public var passed: String
    /// The command that repeats the run.
    public var reproduce: String
    /// What to do next, and the command for it; nil when there is nothing to do.
    public var next: Next?
    /// What there was no room for, and how to get it; empty if all is here.
    public var leftOut: [Omission]
    /// What a reader must know of the strings in it: ``DataMark/notice``.
    public var notice: String? = DataMark.notice

    /// Where a change stands.
    public struct ChangeFacts: Sendable, Equatable, Codable {
        public var name: String
        public var title: String
        public var head: String
        public var target: String
        public var targetCommit: String
    }

    /// How many tests came out otherwise than on the target.
    public struct Counts: Sendable, Equatable, Codable {
        /// The target's run, and the commit that it tested.
        public var against: RunID
        public var commit: String
        public var newlyFailing: Int
        public var stillFailing: Int
        public var fixed: Int
        public var added: Int
        public var removed: Int
        public var renamed: Int
        public var newlySkipped: Int
        public var slower: Int
        public var newFindings: Int
    }

    /// How far the mending of the run is.
    public struct FixFacts: Sendable, Equatable, Codable {
        /// ``FixSeries/State``.
        public var state: String
        public var reason: String
        public var attempts: Int
        /// The run in which the fix passed, the commit that it is, and the command that takes it over.
        public var run: RunID?
        public var commit: String?
        public var command: String?
    }

    public struct Next: Sendable, Equatable, Codable {
        public var advice: String
        public var command: String
    }

    public struct Omission: Sendable, Equatable, Codable {
        /// `12 failing tests`, `details of 3 problems`.
        public var what: String
        public var command: String
    }
}

extension RunBundle {
    /// One thing that is wrong, or that a reader must look at.
    public struct Problem: Sendable, Equatable, Codable {
        public enum Kind: String, Sendable, Codable, CaseIterable {
            case test, finding, step, conflict, integrity, removedTest, newlySkippedTest
        }

        /// How it stands beside the target and the past.
        public enum Standing: String, Sendable, Codable, CaseIterable {
            /// Only on this change.
            case newHere
            /// On the target too: the change did not bring it.
            case alsoOnTarget
            /// It failed and passed on one tree, here or before.
            case knownFlaky
            /// The box's, not the change's.
            case infrastructure
            /// There is nothing to hold it against.
            case unknown
        }

        public var kind: Kind
        public var standing: Standing
        public var severity: Finding.Severity
        /// The test's id, the finding's rule, the step's name, the conflicting file.
        public var name: String
        public var step: String?
        /// Relative to the repository where it is a file of it.
        public var file: String?
        public var line: Int?
        public var column: Int?
        /// The assertion or message, in whole lines.
        public var message: String?
        /// What it printed about it, in whole lines.
        public var excerpt: String?
        /// The parts of the change nearest to it.
        public var hunks: [Hunk]?
        public var suggestion: String?
        /// Further tests that failed at the same line with the same message, and so for the same reason.
        public var alike: Alike?
        /// `failed in 3 of its last 50 runs`.
        public var history: String?
        /// The command that repeats only this.
        public var reproduce: String?

        public init(kind: Kind, standing: Standing, severity: Finding.Severity = .error, name: String) {
            self.kind = kind
            self.standing = standing
            self.severity = severity
            self.name = name
        }
    }

    /// Tests that are told of with another one.
    public struct Alike: Sendable, Equatable, Codable {
        public var count: Int
        /// Some of them, or all.
        public var names: [String]
    }

    /// A part of the change as `git diff` has it.
    public struct Hunk: Sendable, Hashable, Codable {
        public var file: String
        /// Its first line in the tested commit, from 1; 0 where nothing of it is left.
        public var line: Int
        /// Lines of the tested commit that it covers.
        public var lines: Int
        /// Lines that begin with a space, `+` or `-`.
        public var text: String

        public init(file: String, line: Int, lines: Int, text: String) {
            self.file = file
            self.line = line
            self.lines = lines
            self.text = text
        }
    }
}
