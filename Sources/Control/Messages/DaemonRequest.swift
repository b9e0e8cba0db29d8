public import Results

/// What a command asks of the daemon: over the socket, or in its own process where no daemon runs.
public enum DaemonRequest: Sendable, Codable {
    case status
    /// The daemon's settings, as ``DaemonReply/settings(_:)``.
    case settings
    /// Check the repository at this path for pushes now; nil: all of them.
    case look(path: String?)
    case start(StartRequest)
    /// The run's progress from now to its end, as ``DaemonReply/progress(_:)``.
    case follow(RunID)
    /// The state of a wait for a verdict, as ``DaemonReply/waiting(_:)``, until there is a verdict.
    case wait(WaitRequest)
    case cancel(RunID, reason: String)
    /// A person's answer for a run or step that needs approval.
    case approve(ApproveRequest)
    /// Make this branch the protected one of the repository; nil: of the only repository.
    case protect(branch: String, repository: String?)
    case rerun(RerunRequest)
    case runs(RunsQuery)
    case run(RunID)
    /// The run that a reference means.
    case find(RunQuestion)
    /// What must change before a run passes, as one document of limited size.
    case bundle(BundleRequest)
    /// The results of a test over time; the text is its name or a part of it.
    case testHistory(String, TestFilter)
    case flakyTests(TestFilter)
    /// The slowest tests, and how many of them at most.
    case slowestTests(TestFilter, Int)
    /// The newest results of these tests. Points that the request has already are ignored.
    case trends([TestTrend], TestFilter)
    /// A run's tests and findings compared with those of another run; nil: with what is known of its target.
    case compare(RunID, against: RunID?)
    /// Remove runs from the archive by age, count and size.
    case collect(CollectRequest)
    case verifyArchive
    /// What is known of the repository that this path, URL, name or clone means.
    case repository(String)
    /// The target and the integrity rules of the repository that this path, URL, name or clone means.
    case integrityPolicy(String)
    /// The parameters of the workflow that this request would start. Nothing is started.
    case parameters(StartRequest)
    /// For each step of the run that this request would start, whether it is proved and why. Nothing is started.
    case why(StartRequest)
    /// How many proofs there are, and which steps have untrusted ones.
    case proofs
    /// Trust the proofs of a step again, in one repository or in all.
    case trustProofs(step: String, repository: String?)
    case pushArchive(remote: String)
    /// Show verdicts of a repository at a forge.
    case connectForge(ForgeConnectRequest)
    /// Stop showing verdicts of the repository with this name.
    case disconnectForge(String)
    /// The connections to forges, as ``DaemonReply/forges(_:)``.
    case forges
    /// Put a change into the merge queue of its target.
    case land(LandRequest)
    /// Take a change out of the merge queue.
    case cancelLanding(CancelLandingRequest)
    /// Freeze merge queues, or let them go on.
    case freezeQueue(FreezeRequest)
    /// The merge queues of a repository that this name, path or URL means; nil: all.
    case mergeQueues(String?)
    /// Find the commit that broke a test. Replies are ``DaemonReply/bisect(_:)``; the last one is the answer.
    case bisect(BisectRequest)
    /// Try to fix a failed run. Replies are ``DaemonReply/fix(_:)``; the last one is the result.
    case fix(RunID)
    /// The releases, as ``DaemonReply/releases(_:)``.
    case releases(ReleasesQuery)
    /// One release, as ``DaemonReply/release(_:)``.
    case release(ReleaseSubject)
    /// Replace the notes of a release that nothing was published of.
    case setReleaseNotes(ReleaseSubject, notes: String)
    /// Withdraw a release: it is not published any further, and marked everywhere.
    case yankRelease(ReleaseSubject, reason: String)
    /// Make a token for the pages and the API, as ``DaemonReply/token(_:_:)``.
    case createToken(TokenRequest)
    /// The tokens for the pages and the API, as ``DaemonReply/tokens(_:)``.
    case tokens
    /// Make the token with this name invalid, and end its sessions; nil: end all sessions and keep the tokens.
    case revokeToken(String?)
    /// Make a link that logs one browser in to the pages, as ``DaemonReply/pagesLink(_:)``.
    case pagesLink
    /// About tasks for agents, as ``DaemonReply/task(_:)``.
    case task(TaskCommand)
    /// The machines that run steps, as ``DaemonReply/machines(_:)``.
    case machines
}

extension DaemonRequest {
    /// Whether the answer takes as long as a run does.
    package var waits: Bool {
        switch self {
        case .follow, .wait, .bisect, .fix, .task(.follow): true
        default: false
        }
    }
}
