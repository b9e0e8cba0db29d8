package import Engine
package import Pipeline

/// What a daemon asks of an agent. Each request begins an exchange, and each has one reply.
package enum MachineRequest: Sendable, Codable {
    /// Which commits the mirror of a repository has, with all that they need. Reply: ``MirrorState``.
    case mirror(String)
    /// A pack for the mirror follows as data. Reply: ``Done``, once the commit and all that it needs are there.
    case pack(repository: String, commit: String)
    /// Puts the mirror aside, which is damaged, and begins an empty one. Reply: ``Done``.
    case newMirror(String)
    /// Which snapshots the machine has for runs like this one. Reply: ``KeptSnapshots``.
    case snapshots(SnapshotPlace)
    /// Makes the run's workspace. Reply: ``MadeWorkspace``.
    case workspace(WorkspaceOrder)
    /// Keeps the workspace as a snapshot, after the place was closed. Reply: ``KeptSnapshot``.
    case keep(KeepOrder)
    /// Opens the place for the steps of a plan. The agent notes ``OpenedPlace``; the daemon notes ``Done`` after the last
    /// step. Reply: ``ClosedPlace``. A lasting agent keeps the place open when the connection ends, and a later
    /// connection asks for it by the same request.
    case open(Plan)
    /// Runs an attempt; its output comes as data, and the daemon may note a ``StopOrder``. Reply: ``AttemptReport``. If a
    /// lasting agent has begun the attempt for an earlier connection, nothing is started: the whole output comes again.
    case run(AttemptOrder)
    /// Whether a lasting agent has a workspace, and the whole output of each attempt. Reply: ``Done``.
    case resume
    /// The run is over: a lasting agent ends everything of it, and itself. Reply: ``Done``, when nothing is left.
    case leave
    /// Reply: ``Done``, after the `FileSearch` as JSON in data.
    case search(PlaceFolder, step: PlannedStep, SearchOrder)
    /// Reads a file; its bytes come as data. Reply: ``FileEnd``.
    case read(PlaceFolder, step: PlannedStep, path: String, atMost: Int)
    /// A value follows as data. Reply: ``Done``.
    case value(name: String)
    /// Reply: ``Done``.
    case discard(AttemptOrder)
    /// Whether the machine has the outputs with this SHA-256. Reply: ``HasOutputs``.
    case hasOutputs(sha256: String)
    /// The ``PieceList`` of outputs follows as data. Reply: ``Done``, after the ``WantedPieces`` as data.
    case pieces(sha256: String)
    /// Stored outputs follow as data, whole or the wanted pieces of them. Reply: ``Done``, once they are kept there.
    case outputs(sha256: String, isWhole: Bool)
    /// Puts kept outputs into the workspace. Reply: ``Done``.
    case restore(sha256: String, inPlaceOf: StaleOutputs)
}

/// A request was done, and there is nothing to say about it.
package struct Done: Sendable, Codable { package init() {} }

/// The commits of a mirror.
package struct MirrorState: Sendable, Codable {
    /// By which the daemon decides what the mirror lacks.
    package var tips: [String]
    package init(tips: [String]) { self.tips = tips }
    /// The most commits that are named.
    package static let most = 64
}

/// A workspace for a run.
package struct WorkspaceOrder: Sendable, Codable {
    package var repository: String
    package var commit: String
    /// Whether steps must not run without a sandbox.
    package var needsSandbox: Bool
    /// The names of the caches of the plan's steps.
    package var caches: [String]
    /// Whether the run may write to them.
    package var writesCaches: Bool
    /// Nil if the run neither starts from a snapshot nor becomes one.
    package var snapshots: SnapshotUseOrder?

    package init(
        repository: String, commit: String, needsSandbox: Bool, caches: [String], writesCaches: Bool,
        snapshots: SnapshotUseOrder? = nil
    ) {
        self.repository = repository
        self.commit = commit
        self.needsSandbox = needsSandbox
        self.caches = caches
        self.writesCaches = writesCaches
        self.snapshots = snapshots
    }
}

/// What is to be found in a folder.
package struct SearchOrder: Sendable, Codable {
    package var globs: [String]
    package var count: Int
    package var depth: Int
    package var entries: Int
    package var findsLinks: Bool

    package init(_ globs: [Glob], _ limits: FileLimits, findsLinks: Bool) {
        self.globs = globs.map(\.pattern)
        (count, depth, entries) = (limits.count, limits.depth, limits.entries)
        self.findsLinks = findsLinks
    }

    package var limits: FileLimits {
        var limits = FileLimits()
        (limits.count, limits.depth, limits.entries) = (count, depth, entries)
        return limits
    }
}
