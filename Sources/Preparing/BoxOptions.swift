public import Watching
public import Workspaces
import StateFiles
public import Engine
public import Foundation
public import Git
public import Pipeline
public import Settings

/// How a box works: what `pipectl watch` and `pipectl run` can set.
public struct BoxOptions: Sendable {
    /// Steps that run at a time, over all runs.
    public var slots: Int
    /// Runs that go on at a time; each holds a workspace.
    public var runs: Int
    /// The box's own capacities of named resources, over what workflows declare.
    public var capacities: [String: Int] = [:]
    /// How long a step may take to end after SIGTERM.
    public var grace: Duration = .seconds(10)
    /// No run is started while fewer bytes are free on the state folder's disk.
    public var minimumFreeBytes = 1 << 30
    /// As many as that, or more: below twice the reserve not even a checkout can be hoped for.
    package var keptFreeBytes: Int { max(minimumFreeBytes, 2 * ReservedDiskSpace.bytes) }
    /// Whether a one-screen summary of each run is written to `refs/notes/pipectl` of the watched repository.
    public var writesNotes = false
    /// Which code is trusted, and what a person is asked about.
    public var trust = TrustPolicy.standard
    /// Bytes kept of each log's start, and of its end.
    public var logBytes = 16 << 20

    /// Who is told what happens; only by a daemon.
    public var notify = NotifyOptions()
    /// All settings with their values and where each comes from, for those who ask a daemon.
    public var settings: [SettingRecord] = []

    /// Whether steps that earlier runs have proved are left out.
    public var usesProofs = true
    /// How large a part of the proved steps, from 0 to 1, is run all the same to find out whether proofs can be believed.
    public var proofSampling = 0.0
    /// Bytes on disk of all workspaces that runs begin from; with 0 every run begins from nothing.
    public var baseBytes = 20 << 30
    /// How long the workspace of a failed run is kept; with 0 none is.
    public var keepFailed = Duration.seconds(86_400)
    /// Bytes on disk of all such workspaces together.
    public var keptBytes = 10 << 30
    /// Whether idle time is used to keep these new; only a daemon has any.
    public var refreshesBases = false
    /// How often what passes in a warm workspace is tested from nothing.
    public var cleanRoomInterval = Duration.seconds(86_400)

    /// Whether steps of unread code may run although nothing can enclose them here.
    public var allowsUnsandboxed = false
    /// Folders of the box that steps see at the same path: read-only, for writing by merged code, for writing by all.
    public var readable: [String] = []
    public var writable: [String] = []
    public var shared: [String] = []
    /// What each step may use at most.
    public var stepLimits = Limits()
    /// What each run may use at most. By default enough for any build, and too little to take the box down.
    public var runLimits = Limits([
        .processes(4_096), .memory(.bytes(BoxOptions.mostMemory)), .workspace(.gibibytes(50)),
    ])

    /// Seven eighths of the machine's memory: what is left keeps the box alive.
    private static var mostMemory: Int { Int(ProcessInfo.processInfo.physicalMemory / 8 * 7) }
    /// What the files of a commit may come to before anything of them is checked out.
    public var treeLimits = TreeLimits()

    /// Told when a daemon is to end; nil where nobody waits for that.
    public var shutdown: ShutdownNotice?

    public init(slots: Int = ProcessInfo.processInfo.activeProcessorCount) {
        self.slots = max(slots, 1)
        runs = max(slots, 1)
    }
}

extension BoxOptions {
    /// The folders of the machine that sandboxes show.
    public var folders: SandboxFolders { SandboxFolders(readable: readable, writable: writable, shared: shared) }
}
