public import Listening
public import Watching
public import Workspaces
import StateFiles
public import Engine
public import Forges
public import Foundation
public import Git
public import Pipeline
public import Settings

/// The daemon's options, which `pipectl watch` and `pipectl run` can set.
public struct DaemonOptions: Sendable {
    /// The number of steps that run at the same time, over all runs.
    public var slots: Int
    /// The number of runs that are live at the same time; each has a workspace.
    public var runs: Int
    /// Capacities of named resources, which override those that workflows declare.
    public var capacities: [String: Int] = [:]
    /// How long a step may take to end after SIGTERM.
    public var grace: Duration = .seconds(10)
    /// No run starts while fewer bytes are free on the disk of the state folder.
    public var minimumFreeBytes = 1 << 30
    /// The number of free bytes that is enforced: below twice the reserve not even a checkout would succeed.
    package var keptFreeBytes: Int { max(minimumFreeBytes, 2 * ReservedDiskSpace.bytes) }
    /// Whether a one-screen summary of each run is written to `refs/notes/pipectl` of the watched repository.
    public var writesNotes = false
    /// The file that gets a line about each run that ends; nil for none. Used by a daemon only.
    public var runLog: String?
    /// Which code is trusted, and what needs approval.
    public var trust = TrustPolicy.standard
    /// How many bytes of each log's start, and of its end, are kept.
    public var logBytes = 16 << 20

    /// The receivers of notifications; used by a daemon only.
    public var notify = NotifyOptions()
    /// Whose commands in comments at a forge are obeyed.
    public var commands = CommandPolicy()
    /// Where webhooks of forges are heard; only by a daemon.
    public var listen = ListenSettings()
    /// All settings with their values and sources, for requests to the daemon.
    public var settings: [SettingRecord] = []

    /// Whether steps that earlier runs have proved are skipped.
    public var usesProofs = true
    /// The share of proved steps, from 0 to 1, that run anyway to find wrong proofs.
    public var proofSampling = 0.0
    /// Bytes on disk for all snapshots; with 0 every run starts fresh.
    public var snapshotBytes = 20 << 30
    /// How long the workspace of a failed run is retained; with 0 none is.
    public var keepFailed = Duration.seconds(86_400)
    /// Bytes on disk for all retained workspaces.
    public var retainedBytes = 10 << 30
    /// Whether idle time is used to make new snapshots; only a daemon does that.
    public var refreshesSnapshots = false
    /// How often a branch that passes in a warm workspace is tested in a fresh one.
    public var cleanRoomInterval = Duration.seconds(86_400)

    /// Whether steps of changes may run although no sandbox is available.
    public var allowsUnsandboxed = false
    /// Folders of the machine that steps see at the same path: read-only; writable for merged code; writable for all.
    public var readable: [String] = []
    public var writable: [String] = []
    public var shared: [String] = []
    /// The limits of each step.
    public var stepLimits = Limits()
    /// The limits of each run. The defaults are enough for any build, but protect the machine.
    public var runLimits = Limits([
        .processes(4_096), .memory(.bytes(DaemonOptions.mostMemory)), .workspace(.gibibytes(50)),
    ])

    /// Seven eighths of the machine's memory; the rest keeps the machine usable.
    private static var mostMemory: Int { Int(ProcessInfo.processInfo.physicalMemory / 8 * 7) }
    /// The limits of a commit's files, which are checked before the checkout.
    public var treeLimits = TreeLimits()

    /// Called when a daemon is to end; nil if nothing waits for that.
    public var shutdown: ShutdownNotice?

    public init(slots: Int = ProcessInfo.processInfo.activeProcessorCount) {
        self.slots = max(slots, 1)
        runs = max(slots, 1)
    }
}

extension DaemonOptions {
    /// The folders of the machine that sandboxes show.
    public var folders: SandboxFolders { SandboxFolders(readable: readable, writable: writable, shared: shared) }
}
