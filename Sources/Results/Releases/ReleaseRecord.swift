public import Foundation

/// A release: a version of a repository's product, made once of one commit.
public struct ReleaseRecord: Sendable, Equatable, Codable {
    /// How far it has come.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// It is made, and its notes can be edited.
        case draft
        /// Its manifest is signed with the notes; nothing changes any more. Publishing has begun.
        case sealed
        /// Every step that publishes it has passed.
        case published
        /// A person has withdrawn it.
        case yanked
    }

    /// The watched repository's name.
    public var repository: String
    /// The repository's address, as in `https://HOST/OWNER/NAME`; nil if it was on the daemon's machine only.
    public var address: String?
    /// As in `1.2.0`; unique in the repository.
    public var version: String
    /// As in 1.4 for version 1.4.812; nil in releases that were made before it was noted, whose users see ``version``.
    public var marketingVersion: String?
    /// The number of commits in the first-parent history of ``commit``.
    public var buildNumber: Int
    /// The tag, as in `v1.2.0`. It may not exist.
    public var tag: String
    public var commit: String
    public var tree: String
    /// The time of ``commit``.
    public var committedAt: Date
    public var workflow: String
    /// The run that made it.
    public var run: RunID
    public var madeAt: Date
    public var state: State
    /// What is new, in Markdown.
    public var notes: String
    /// By name.
    public var files: [File]
    /// The ids of the keys that signed the files; nil in releases that were made before they were noted.
    public var keys: [String]?
    /// For each step that publishes it, the steps that wait for a person before, after it was made; nil in releases that
    /// were made before they were noted.
    public var gates: [[String]]?
    /// Why it was withdrawn.
    public var reason: String?
    /// Where it was published, by the name of the step.
    public var publications: [PublicationRecord] = []
    /// What it waits for before it is published, or who rejected that; nil: neither, or nobody has looked. It is found out
    /// for each reply and kept nowhere.
    public var gate: ReleaseGate?

    /// A file of a release.
    public struct File: Sendable, Hashable, Codable {
        /// Without folders; unique in the release.
        public var name: String
        public var bytes: Int
        /// Lower-case hex.
        public var sha256: String

        public init(name: String, bytes: Int, sha256: String) {
            self.name = name
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    public init(
        repository: String, address: String? = nil, version: ReleaseVersion, commit: String, tree: String,
        committedAt: Date,
        workflow: String, run: RunID, madeAt: Date, state: State = .draft, notes: String, files: [File]
    ) {
        self.repository = repository
        self.address = address
        self.version = version.version
        marketingVersion = version.marketing
        buildNumber = version.buildNumber
        tag = version.tag
        self.commit = commit
        self.tree = tree
        self.committedAt = committedAt
        self.workflow = workflow
        self.run = run
        self.madeAt = madeAt
        self.state = state
        self.notes = notes
        self.files = files
    }
}

extension ReleaseRecord {
    /// The state with what it waits for, as in `draft, waits for approval`.
    public var standing: String {
        guard let gate else { return state.rawValue }
        return "\(state.rawValue), \(gate.isRejected ? "rejected" : "waits for approval")"
    }
}

/// A step that waits for a person before a release is published, or that a person has rejected.
public struct ReleaseGate: Sendable, Equatable, Codable {
    /// The run that would publish the release.
    public var run: RunID
    public var step: String
    public var isRejected: Bool
    /// The command that approves it, or who rejected it and why. The reason is untrusted and not escaped.
    public var inWords: String

    public init(run: RunID, step: String, isRejected: Bool, inWords: String) {
        (self.run, self.step, self.isRejected, self.inWords) = (run, step, isRejected, inWords)
    }
}

/// Where a release was brought by one step, and how far its users have it there.
public struct PublicationRecord: Sendable, Equatable, Codable {
    public enum State: String, Sendable, Codable, CaseIterable {
        /// It was begun.
        case begun
        /// All files are there.
        case uploaded
        /// The destination still works on it.
        case processing
        /// Testers can install it.
        case testing
        /// Everybody can install it.
        case released
        /// The destination takes it no further.
        case refused
    }

    /// The name of the step.
    public var step: String
    /// Where it is, in words.
    public var destination: String
    public var state: State
    /// Why it gets no further there, or not by itself; nil: nothing is known to be in its way.
    public var reason: String?
    /// The address of a page or file for people.
    public var address: String?
    /// A line that installs it, as in `brew install owner/tap/name`.
    public var install: String?
    public var updatedAt: Date

    public init(
        step: String, destination: String, state: State, reason: String? = nil, address: String? = nil,
        install: String? = nil, updatedAt: Date
    ) {
        self.step = step
        self.destination = destination
        self.state = state
        self.reason = reason
        self.address = address
        self.install = install
        self.updatedAt = updatedAt
    }
}

/// The version of a commit, by the rule of its workflow.
public struct ReleaseVersion: Sendable, Equatable {
    /// As in `1.2.0`.
    public var version: String
    /// What users of an app see beside the build number, as in 1.4 for the versions 1.4.811 and 1.4.812.
    public var marketing: String
    /// The number of commits in the commit's first-parent history.
    public var buildNumber: Int
    /// As in `v1.2.0`.
    public var tag: String

    /// - Parameter marketing: Nil: the numbers at the beginning of the version, as in 1.2.0 of 1.2.0-rc.1.
    public init(version: String, marketing: String? = nil, buildNumber: Int, tag: String) {
        self.version = version
        let numbers = version.prefixMatch(of: /[0-9]+(\.[0-9]+)*/).map { String($0.0) }
        self.marketing = marketing ?? numbers ?? version
        self.buildNumber = buildNumber
        self.tag = tag
    }

    /// What commands take for the newest release that was not withdrawn, so that no version has this name.
    public static let newest = "latest"

    /// Whether `text` can be a version: a name of files and tags, of at most 100 ASCII letters, digits and `.-+_~`.
    public static func isUsable(_ text: String) -> Bool {
        let isPlain: (UInt8) -> Bool = { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        guard let first = text.utf8.first, isPlain(first), text.utf8.count <= 100 else { return false }
        return !text.contains("..") && text.utf8.allSatisfy { isPlain($0) || ".-+_~".utf8.contains($0) }
    }
}
