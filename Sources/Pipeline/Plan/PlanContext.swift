/// The facts about a run that are known when it is planned.
public struct PlanContext: Sendable, Equatable, Codable {
    /// The watched repository's name, as `pipectl status` shows it.
    public var repository: String
    /// What started the run.
    public var event: Trigger.Event
    /// The commit that is tested: for a change, its merge with the target.
    public var commit: String
    /// The full ref that moved, for example `refs/pull/7/head`.
    public var ref: String
    /// The target of a change, otherwise the branch itself, as a short name (`main`); nil for a tag.
    public var branch: String?
    /// The tag's name; nil unless a tag started the run.
    public var tag: String?
    /// The change; nil unless the run tests one.
    public var change: Change?
    /// The paths that differ from the target (of a change) or from the ref's previous commit.
    public var changedFiles: [ChangedFile]
    /// The changes that landed with this commit, oldest first.
    public var mergedChanges: [MergedChange]
    /// Each parameter's value as text, defaults filled in.
    public var parameters: [String: String]
    /// The newest release tag among the commit's ancestors, if there is one.
    public var lastTag: String?
    /// What earlier runs say about the tests.
    public var tests = TestHistory()

    /// The facts about a run for which ``lastTag`` and ``tests`` are not known: nil and empty.
    ///
    /// Commits are full ids in hexadecimal.
    public init(
        repository: String, event: Trigger.Event, commit: String, ref: String, branch: String? = nil,
        tag: String? = nil, change: Change? = nil, changedFiles: [ChangedFile] = [],
        mergedChanges: [MergedChange] = [], parameters: [String: String] = [:]
    ) {
        self.repository = repository
        self.event = event
        self.commit = commit
        self.ref = ref
        self.branch = branch
        self.tag = tag
        self.change = change
        self.changedFiles = changedFiles
        self.mergedChanges = mergedChanges
        self.parameters = parameters
    }

    /// The change that landed with this commit, or the last one of several.
    public var mergedChange: MergedChange? { mergedChanges.last }

    /// Whether a changed path matches one of `globs`. True when the changed paths are unknown, as in a manual run.
    public func changes(_ globs: String...) -> Bool {
        if changedFiles.isEmpty && change == nil { return true }
        let patterns = globs.compactMap { try? Glob($0) }
        return changedFiles.contains { file in patterns.contains { $0.matches(file.path) } }
    }

    /// The value of a parameter that the workflow declares.
    ///
    /// A parameter that the workflow does not declare has its default value. Reading an undeclared parameter without a
    /// default is a programming error: it ends planning with a message that names the parameter.
    public subscript<Value>(parameter: Parameter<Value>) -> Value {
        let declaration = parameter.declaration
        let text = parameters[declaration.name] ?? declaration.defaultValue
        guard let text, let value = Value(parameter: text) else {
            // Reached only when the workflow reads a parameter that it does not list, because the daemon checks values
            // against the declarations before planning. Planning has a process of its own, so this ends nothing else.
            fatalError("parameter \"\(declaration.name)\" is read but not declared: add it to `parameters:`")
        }
        return value
    }
}

/// A pull or merge request, or a branch that stands for one.
public struct Change: Sendable, Equatable, Codable {
    /// The number of a pull request, or the branch of a change that has no number.
    public var name: String
    /// The commit that the author pushed.
    public var head: String
    /// The branch that the change is to be merged into.
    public var target: String
    /// The commit of the target that ``head`` was merged with.
    public var targetCommit: String
    /// The title at the connected forge; without one the first line of the head commit's message.
    public var title: String
    /// The login of who opened it at the connected forge; without one the head commit's author.
    public var author: String
    /// Whether it is a draft at the connected forge.
    public var isDraft = false
    /// Its labels at the connected forge, sorted.
    public var labels: [String] = []
    /// Owner and name of the repository that it comes from, where that is a fork; only a connected forge knows.
    public var headRepository: String?

    /// A change. Without a connected forge it is no draft, and has no labels and no repository of its own.
    ///
    /// Commits are full ids in hexadecimal.
    public init(
        name: String, head: String, target: String, targetCommit: String, title: String, author: String,
        isDraft: Bool = false, labels: [String] = [], headRepository: String? = nil
    ) {
        self.name = name
        self.head = head
        self.target = target
        self.targetCommit = targetCommit
        self.title = title
        self.author = author
        self.isDraft = isDraft
        self.labels = labels
        self.headRepository = headRepository
    }

    /// Reads a change, also one that was written before a forge could tell of drafts and labels.
    ///
    /// - Throws: A `DecodingError` if another value is missing.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String { try values.decode(String.self, forKey: key) }
        (name, head, target) = (try text(.name), try text(.head), try text(.target))
        (targetCommit, title, author) = (try text(.targetCommit), try text(.title), try text(.author))
        // Written before a forge could tell.
        isDraft = try values.decodeIfPresent(Bool.self, forKey: .isDraft) ?? false
        labels = try values.decodeIfPresent([String].self, forKey: .labels) ?? []
        headRepository = try values.decodeIfPresent(String.self, forKey: .headRepository)
    }
}

/// A path that the tested commit changes.
public struct ChangedFile: Sendable, Equatable, Codable {
    /// What happened to the path, as Git reports it.
    public enum Status: String, Sendable, Codable { case added, deleted, modified, renamed, copied, typeChanged }

    /// What happened to the path.
    public var status: Status
    /// Relative to the repository.
    public var path: String
    /// The earlier path of a renamed or copied file.
    public var oldPath: String?

    /// A changed path. Only a renamed or copied file has an `oldPath`.
    public init(status: Status, path: String, oldPath: String? = nil) {
        self.status = status
        self.path = path
        self.oldPath = oldPath
    }
}

/// A change that landed in its target, and how that was recognised.
public struct MergedChange: Sendable, Equatable, Codable {
    /// How the change was found in the target's history. `inside`: the target already contained its commits.
    public enum Recognition: String, Sendable, Codable { case merge, fastForward, squash, rebase, inside }

    /// The change's name: see ``Change/name``.
    public var name: String
    /// The last commit that the author pushed.
    public var head: String
    /// The commit on the target that contains the change.
    public var commit: String
    /// How it was recognised.
    public var recognition: Recognition

    /// A change that landed. Commits are full ids in hexadecimal.
    public init(name: String, head: String, commit: String, recognition: Recognition) {
        self.name = name
        self.head = head
        self.commit = commit
        self.recognition = recognition
    }
}
