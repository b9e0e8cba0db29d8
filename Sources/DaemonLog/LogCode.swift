/// What a line of the daemon's log is about, for programs that read the log.
///
/// A code stays when its sentence is worded anew. docs/log.md has the same table.
public enum LogCode: String, Sendable, CaseIterable {
    // MARK: The daemon

    /// The daemon answers commands, and looks at its repositories.
    case watching
    /// Another process owns the state folder; the daemon starts when that ends.
    case waitingForState = "waiting-for-state"
    /// The first signal: what runs may end.
    case shuttingDown = "shutting-down"
    /// The second signal: what runs is cancelled.
    case cancellingRuns = "cancelling-runs"
    /// The steps got the daemon's signal, too, so that it ends at once.
    case stoppedWithSteps = "stopped-with-steps"
    /// Which sandbox steps run in.
    case sandboxFound = "sandbox-found"
    /// This machine can't enclose steps.
    case noSandbox = "no-sandbox"
    /// Removed temporary files of a process that was killed.
    case leftoversRemoved = "leftovers-removed"
    /// The list of other machines can't be read; what was known of them still holds.
    case machinesUnreadable = "machines-unreadable"
    /// The list of other machines can be read again.
    case machinesReadable = "machines-readable"
    /// Another machine can't be used for now: it could not be reached, was lost while it had a run, or has all nodes out
    /// of service.
    case machineLost = "machine-lost"
    /// Another machine can be used again.
    case machineBack = "machine-back"

    // MARK: Repositories

    /// The first look at a repository, which starts no runs.
    case baseline
    /// A repository can't be read; it is tried again.
    case repositoryUnreadable = "repository-unreadable"
    /// A repository can be read again.
    case repositoryReadable = "repository-readable"
    /// A ref names an object that can't be read.
    case refUnreadable = "ref-unreadable"
    /// There are no file events of a repository, or not of all of it: it is polled.
    case onlyPolled = "only-polled"
    /// Which branch is protected.
    case protectedBranch = "protected-branch"
    /// A repository has no branch that is protected, or another one than its HEAD names.
    case protectedBranchAdvice = "protected-branch-advice"
    /// `workflows/` does not compile, or can't be used.
    case definitionUnusable = "definition-unusable"
    /// No branch that moved has workflows.
    case noWorkflows = "no-workflows"
    /// A workflow that is due on its schedule could not be started.
    case scheduleFailed = "schedule-failed"
    /// The state of a change could not be stored.
    case changeStateFailed = "change-state-failed"

    // MARK: Runs

    /// A run was accepted, and waits for its turn.
    case runQueued = "run-queued"
    /// A background run could not be queued.
    case queueingFailed = "queueing-failed"
    /// A run has its verdict, which is in the line's `verdict`.
    case runEnded = "run-ended"
    /// A run that a crash or a shutdown ended starts again.
    case runInterrupted = "run-interrupted"
    /// The steps of a run went on at another machine without a connection, and were taken over.
    case runAdopted = "run-adopted"
    /// The steps of a run could not be taken over.
    case runNotAdopted = "run-not-adopted"
    /// A run waits until a person approves it.
    case runNeedsApproval = "run-needs-approval"
    /// A step waits until a person approves it.
    case stepNeedsApproval = "step-needs-approval"
    /// A person approved a run or a step, or refused it.
    case approvalAnswered = "approval-answered"
    /// An approval could not be asked for, or its answer could not be recorded.
    case approvalFailed = "approval-failed"
    /// Steps start in the order of the plan, because their history can't be read.
    case orderUnknown = "order-unknown"
    /// Earlier results could not be read or are not used: steps run.
    case proofsUnusable = "proofs-unusable"
    /// A part of a run's evaluation is missing.
    case evaluationFailed = "evaluation-failed"
    /// The merge of a run stays in the repository's store, or a folder of it on the disk.
    case releaseFailed = "release-failed"
    /// A process of a run could not be ended.
    case processSurvived = "process-survived"

    // MARK: Merge queue

    /// A change is in the merge queue of a branch; it is in the line's `change`.
    case changeQueued = "change-queued"
    /// A label asks for a change to land that can't; it is in the line's `change`.
    case changeNotQueued = "change-not-queued"
    /// A change left the merge queue: landed, failed, or taken out.
    case changeLeftQueue = "change-left-queue"
    /// Whether open changes conflict with each other could not be found out.
    case earlyConflictsUnknown = "early-conflicts-unknown"
    /// A forge merged a change on top of something else than it was tested with; it is in the line's `change`.
    case landedUntested = "landed-untested"
    /// The merge queue does not land anything until a person or a push helps.
    case queueFrozen = "queue-frozen"
    /// The merge queue could not go on; it is tried again.
    case queueStopped = "queue-stopped"

    // MARK: Workspaces and sandboxes

    /// Where a run's workspace comes from.
    case workspaceProvided = "workspace-provided"
    /// No snapshot could be used: a run starts from a checkout.
    case snapshotUnusable = "snapshot-unusable"
    /// A run left its workspace for later runs to start from.
    case snapshotTaken = "snapshot-taken"
    /// A run could not leave its workspace for later runs.
    case snapshotFailed = "snapshot-failed"
    /// Snapshots were removed: for space, or because their commits left the branch.
    case snapshotsRemoved = "snapshots-removed"
    /// The workspace of a failed run is retained.
    case workspaceRetained = "workspace-retained"
    /// The workspace of a failed run could not be retained.
    case retainingFailed = "retaining-failed"
    /// Retained workspaces were removed for space.
    case retainedRemoved = "retained-removed"
    /// No sandbox could be started in advance, or removed.
    case standbyFailed = "standby-failed"

    // MARK: Disk and archive

    /// Runs wait for free space.
    case diskFull = "disk-full"
    /// Runs continue.
    case diskHasRoom = "disk-has-room"
    /// The space that is reserved on the disk was released.
    case reserveReleased = "reserve-released"
    /// Something that is tried again every two seconds.
    case trouble
    /// What was tried again has worked.
    case troubleSolved = "trouble-solved"
    /// A verdict can't be recorded yet; it is tried again.
    case recordingDelayed = "recording-delayed"
    /// A verdict could be recorded after all.
    case recorded
    /// A verdict was not recorded, and is not tried again.
    case recordingFailed = "recording-failed"
    /// A report lacks something, because the disk is full.
    case reportShortened = "report-shortened"
    /// What was written may not be on the disk yet.
    case notDurable = "not-durable"
    /// The end of a step that runs at most once could not be recorded.
    case stepEndUnrecorded = "step-end-unrecorded"
    /// `archive.git` can't be written, or not for one run; reports stay in the index.
    case archiveBehind = "archive-behind"
    /// `archive.git` can be written again.
    case archiveCaughtUp = "archive-caught-up"
    /// Something is wrong in `archive.git`.
    case archiveProblem = "archive-problem"
    /// `archive.git` could not be packed; it is larger than it needs to be.
    case archiveNotPacked = "archive-not-packed"
    /// The index was given runs that only the archive had.
    case runsRestored = "runs-restored"
    /// The index could not be copied, or its log not be written into it.
    case backupFailed = "backup-failed"

    // MARK: After the run

    /// The search for the commit that broke a test began, or made a step.
    case bisecting
    /// The search ended: with the commit, or with the reason why none was found.
    case bisected
    /// The search could not be made.
    case bisectFailed = "bisect-failed"
    /// The state of a fix; it is in the line's `state`.
    case fixState = "fix-state"
    /// The state of a task; it is in the line's `state`, and the task's number in `task`.
    case taskState = "task-state"
    /// The line that tells reporters of a task what happened did not succeed.
    case taskTellFailed = "task-tell-failed"
    /// The branch of a task whose change has landed could not be removed. The next start of the daemon tries again.
    case taskBranchKept = "task-branch-kept"
    /// The refs of old fixes could not be removed.
    case fixCleanupFailed = "fix-cleanup-failed"
    /// Something other than a person's request made a task.
    case taskAdded = "task-added"
    /// What happened elsewhere made no task, or what happened to one could not be told.
    case taskFailed = "task-failed"
    /// The summary of a run could not be written as a Git note.
    case noteFailed = "note-failed"
    /// The run log can't be written; it lacks the runs that end until it can be.
    case runLogFailed = "run-log-failed"
    /// A notification could not be sent or stored; it is tried again.
    case notificationFailed = "notification-failed"
    /// A notification is not tried again.
    case notificationAbandoned = "notification-abandoned"
    /// A listener was slower than the runs, and missed some.
    case eventsMissed = "events-missed"

    // MARK: Forges

    /// Something could not be shown at the forge; it is tried again.
    case forgeDelayed = "forge-delayed"
    /// The forge refuses something for good.
    case forgeRefused = "forge-refused"
    /// A forge does not answer; it is asked again.
    case forgeUnreachable = "forge-unreachable"
    /// Where pages for browsers are shown, or why they are not.
    case pagesShown = "pages-shown"
    /// A page for a browser could not be made.
    case pageFailed = "page-failed"
    /// Somebody logged in to the pages, or tried to.
    case pagesLogin = "pages-login"
    /// Somebody acted at the pages or by their API.
    case pagesAction = "pages-action"
    /// Somebody wrote the notes of a release.
    case releaseNotes = "release-notes"
    /// Somebody withdrew a release.
    case releaseYanked = "release-yanked"
    /// A release got further at its destination, or how far it is there can't be asked.
    case releaseFollowed = "release-followed"
    /// A forge answers again.
    case forgeReachable = "forge-reachable"
    /// A person asked for something at the forge.
    case forgeCommand = "forge-command"
    /// The daemon listens for webhooks.
    case webhooksHeard = "webhooks-heard"
    /// A forge can't be used: nothing is shown there.
    case forgeUnusable = "forge-unusable"
}
