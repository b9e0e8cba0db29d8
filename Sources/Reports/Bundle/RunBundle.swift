public import Results
import TerminalText

/// What must change before a run passes, as one document of limited size, for the person or agent who changes it.
///
/// ``BundleDraft/fit(bytes:as:)`` makes it. To reach the size it drops details first, and then the least important
/// problems. Texts are cut only after whole lines and sentences, and ``leftOut`` says what is missing. Its JSON follows
/// ``BundleSchema``; readers must ignore unknown keys.
public struct RunBundle: Sendable, Equatable, Codable {
    /// The version that this code writes.
    public static let currentSchemaVersion = 1

    /// The version of the bundle's format.
    public var schemaVersion = RunBundle.currentSchemaVersion
    /// The run's number.
    public var run: RunID
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// What is tested, in words: `change 7 into main`.
    public var subject: String
    /// The change; nil for a run of a ref.
    public var change: ChangeFacts?
    /// The tested commit; nil if there is none.
    public var testedCommit: String?
    /// Nil while the run is running: then ``problems`` are those found so far.
    public var verdict: Verdict?
    /// The reason for the verdict, in a sentence.
    public var reason: String
    /// The exit code of a command that waits for this verdict; nil while the run is running.
    public var exitCode: Int32?
    /// The problems, the most important first.
    public var problems: [Problem]
    /// The comparison with the target; nil if nothing is known of it.
    public var comparison: Counts?
    /// The attempts at fixing the run's failure; nil if there are none.
    public var fix: FixFacts?
    /// What passed, in one line.
    public var passed: String
    /// The command that repeats the run.
    public var reproduce: String
    /// What to do next, and the command for it; nil if nothing is to be done.
    public var next: Next?
    /// What was omitted for length, and how to get it; empty if nothing was.
    public var leftOut: [Omission]
    /// What a reader must know about the strings in the bundle: ``DataMark/notice``.
    public var notice: String? = DataMark.notice

    /// The change, its target, and their commits.
    public struct ChangeFacts: Sendable, Equatable, Codable {
        /// The change's name.
        public var name: String
        /// The first line of the head commit's message. Untrusted text.
        public var title: String
        /// The commit that the author pushed.
        public var head: String
        /// The branch that the change is to be merged into.
        public var target: String
        /// The commit that the head was merged with.
        public var targetCommit: String
    }

    /// The numbers of tests whose result differs from the target's.
    public struct Counts: Sendable, Equatable, Codable {
        /// The target's run, and the commit that it tested.
        public var against: RunID
        public var commit: String
        /// Tests that fail only in this run.
        public var newlyFailing: Int
        /// Tests that fail on the target, too.
        public var stillFailing: Int
        /// Tests that fail on the target and pass in this run.
        public var fixed: Int
        /// Tests that don't exist on the target.
        public var added: Int
        /// Tests that ran on the target and no longer exist.
        public var removed: Int
        /// Tests that have another name on the target.
        public var renamed: Int
        /// Tests that ran on the target and are skipped in this run.
        public var newlySkipped: Int
        /// Tests that took longer than their earlier times explain.
        public var slower: Int
        /// Findings that the target does not have.
        public var newFindings: Int
    }

    /// The state of the attempts at fixing the run.
    public struct FixFacts: Sendable, Equatable, Codable {
        /// ``FixSeries/State``.
        public var state: String
        /// The reason for the state, in one sentence.
        public var reason: String
        /// The number of attempts so far.
        public var attempts: Int
        /// The run in which the fix passed, its commit, and the command that applies it.
        public var run: RunID?
        public var commit: String?
        public var command: String?
    }

    /// What to do next.
    public struct Next: Sendable, Equatable, Codable {
        /// What to do, in words.
        public var advice: String
        /// The command for it.
        public var command: String
    }

    /// What was omitted for length.
    public struct Omission: Sendable, Equatable, Codable {
        /// `12 failing tests`, `details of 3 problems`.
        public var what: String
        /// The command that shows what was omitted.
        public var command: String
    }
}

extension RunBundle {
    /// A problem, or something that a reader should look at.
    public struct Problem: Sendable, Equatable, Codable {
        /// What the problem is about.
        public enum Kind: String, Sendable, Codable, CaseIterable {
            case test, finding, step, conflict, integrity, removedTest, newlySkippedTest
        }

        /// How the problem compares with the target and with earlier runs.
        public enum Standing: String, Sendable, Codable, CaseIterable {
            /// It exists only in this change.
            case newHere
            /// It also exists on the target, so the change did not cause it.
            case alsoOnTarget
            /// It failed and passed on the same tree, in this run or before.
            case knownFlaky
            /// The build box caused it, not the change.
            case infrastructure
            /// There is nothing to compare it with.
            case unknown
        }

        /// What the problem is about.
        public var kind: Kind
        /// How the problem compares with the target.
        public var standing: Standing
        /// How severe it is.
        public var severity: Finding.Severity
        /// The test's id, the finding's rule, the step's name, or the conflicting file.
        public var name: String
        /// The step that the problem comes from.
        public var step: String?
        /// Relative to the repository if the file belongs to it.
        public var file: String?
        /// From 1.
        public var line: Int?
        /// From 1.
        public var column: Int?
        /// The assertion or message, cut after whole lines.
        public var message: String?
        /// The output about the problem, cut after whole lines.
        public var excerpt: String?
        /// The parts of the change nearest to the problem.
        public var hunks: [Hunk]?
        /// What to do about the problem.
        public var suggestion: String?
        /// Further tests that failed at the same line with the same message.
        public var alike: Alike?
        /// `failed in 3 of its last 50 runs`.
        public var history: String?
        /// The command that repeats only the step or test.
        public var reproduce: String?

        public init(kind: Kind, standing: Standing, severity: Finding.Severity = .error, name: String) {
            self.kind = kind
            self.standing = standing
            self.severity = severity
            self.name = name
        }
    }

    /// Tests that are reported together with another one.
    public struct Alike: Sendable, Equatable, Codable {
        /// The number of the other tests.
        public var count: Int
        /// Some or all of their names.
        public var names: [String]
    }

    /// A part of the change, as in `git diff`.
    public struct Hunk: Sendable, Hashable, Codable {
        /// The path in the tested commit.
        public var file: String
        /// The first line in the tested commit, from 1; 0 if none of the lines remain.
        public var line: Int
        /// The number of lines in the tested commit.
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
