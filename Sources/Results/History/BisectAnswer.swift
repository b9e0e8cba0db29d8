public import Foundation

/// Which commit of a branch broke a test.
public struct BisectAnswer: Sendable, Equatable, Codable {
    /// A commit, with what is known about it.
    public struct Commit: Sendable, Equatable, Codable {
        /// The commit's id, hexadecimal.
        public var id: String
        /// The first line of its message: any text.
        public var title: String
        /// The commit's author. Any text.
        public var author: String
        /// The change that the commit landed with, and the change's title.
        public var change: String?
        public var changeTitle: String?
        /// The run that tested it; nil if the commit can't be tested.
        public var run: RunID?
        /// Why it can't be tested.
        public var reason: String?

        public init(
            id: String, title: String, author: String, change: String? = nil, changeTitle: String? = nil,
            run: RunID? = nil, reason: String? = nil
        ) {
            self.id = id
            self.title = title
            self.author = author
            self.change = change
            self.changeTitle = changeTitle
            self.run = run
            self.reason = reason
        }

        /// `change 41 "Faster parser", landed as 4f1d2c8a01`, or `commit 4f1d2c8a01 "Faster parser"`. Untrusted text,
        /// not escaped.
        public var inWords: String {
            if let change { return "change \(change) \"\(changeTitle ?? title)\", landed as \(id.prefix(10))" }
            return "commit \(id.prefix(10)) \"\(title)\""
        }
    }

    /// The test's id, as in ``TestResult/id``.
    public var test: String
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The branch that was searched.
    public var branch: String
    /// The oldest commit in which it fails.
    public var broken: Commit
    /// The newest commit before ``broken`` in which it passes.
    public var good: Commit
    /// Commits between the two that can't be tested. The cause may be one of them.
    public var suspects: [Commit]
    /// Whether both results were confirmed by a second run; nil if that was not requested.
    public var isVerified: Bool?
    /// How many commits' results were in the archive, and how many commits were run.
    public var fromArchive: Int
    public var runs: Int
    /// When the search ended.
    public var at: Date

    public init(
        test: String, repository: String, workflow: String, branch: String, broken: Commit, good: Commit,
        suspects: [Commit], isVerified: Bool? = nil, fromArchive: Int, runs: Int, at: Date
    ) {
        self.test = test
        self.repository = repository
        self.workflow = workflow
        self.branch = branch
        self.broken = broken
        self.good = good
        self.suspects = suspects
        self.isVerified = isVerified
        self.fromArchive = fromArchive
        self.runs = runs
        self.at = at
    }

    /// The answer in one sentence. Untrusted text, not escaped.
    public var inWords: String {
        let others = suspects.isEmpty ? "" : ", or by one of \(suspects.count) earlier commits that can't be tested"
        let doubt = isVerified == false ? "; a second run did not confirm this, so the test may be flaky" : ""
        return "\(test) was broken by \(broken.inWords)\(others)\(doubt)"
    }
}
