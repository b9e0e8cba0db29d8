/// What is to be done next to get an allocation, from what was done and what Slurm answers. It starts nothing itself.
///
/// An acknowledged submission may be lost: if slurmctld dies within some five seconds after it, it has not yet written
/// the job down. So the job has a name of ours, by which it is looked for.
struct AllocationProgress: Sendable {
    /// What Slurm answered.
    enum Sight: Sendable, Equatable {
        case jobs([SlurmJob])
        case unanswered(ReachProblem)
    }

    enum Action: Sendable, Equatable {
        case submit
        case wait
        /// The allocation is there. The others have the same name and are not needed.
        case use(SlurmJob, surplus: [Int])
        case fail(ReachProblem)
    }

    /// After this time without a trace the submission counts as forgotten.
    static let forgottenAfter = Duration.seconds(6)
    static let submissionLimit = 3
    /// For how long Slurm may be silent.
    var patience = Duration.seconds(120)

    private let name: String
    private var submissions = 0
    private var submittedAt: Duration?
    private var id: Int?
    private var silentSince: Duration?
    /// What came instead of an answer to the last submission.
    private var complaint: String?

    init(name: String) { self.name = name }

    /// Notes the answer to a submission.
    ///
    /// - Parameter now: Since any fixed moment.
    /// - Returns: Why it is over, if it is.
    mutating func submitted(_ submission: SlurmCommands.Submission, at now: Duration) -> ReachProblem? {
        submissions += 1
        submittedAt = now
        (id, complaint) = (nil, nil)
        switch submission {
        case .accepted(let id):
            self.id = id
            return nil
        case .unanswered(let words):
            complaint = words
            return nil
        case .refused(let words):
            return refused(words)
        case .closed(let words):
            return ReachProblem(
                .controllerUnreachable,
                "Slurm takes no jobs (\(words)). `sinfo` shows the partitions and whether they are up.")
        }
    }

    private func refused(_ words: String) -> ReachProblem {
        ReachProblem(
            .allocationRefused,
            "Slurm refused the allocation \(name): \(words). Compare what the steps ask for by .on, .cpus, .memory and the "
                + "time limit with `sinfo -o '%P %l %c %m %f'`.")
    }

    /// - Parameter now: Since the same moment.
    mutating func next(_ sight: Sight, at now: Duration) -> Action {
        switch sight {
        case .unanswered(let problem):
            let since = silentSince ?? now
            silentSince = since
            return now - since < patience ? .wait : .fail(problem)
        case .jobs(let jobs):
            silentSince = nil
            return next(jobs.sorted { $0.id < $1.id }, at: now)
        }
    }

    private func next(_ jobs: [SlurmJob], at now: Duration) -> Action {
        let alive = jobs.filter(\.state.isAlive)
        let running = alive.first { if case .running = $0.state { true } else { false } }
        if let job = running {
            return .use(job, surplus: alive.map(\.id).filter { $0 != job.id })
        }
        for job in alive {
            guard case .stuck(let reason) = job.state else { continue }
            if SlurmJobState.isOfRequest(reason) { return .fail(refused(ReachProblem.lastWords(of: reason))) }
            return .fail(
                ReachProblem(
                    .allocationLost,
                    "Slurm holds the allocation \(name) back (\(ReachProblem.lastWords(of: reason))). "
                        + "`scontrol show job \(job.id)` and `sinfo -R` say more; a drained node needs "
                        + "`scontrol update nodename=NODE state=resume`."))
        }
        if !alive.isEmpty { return .wait }
        if let own = jobs.last(where: { $0.id == id }) {
            return .fail(
                ReachProblem(
                    .allocationLost, "The allocation \(name) \(Self.predicate(of: own.state)). Start the run again."))
        }
        guard let submittedAt else { return .submit }
        guard now - submittedAt >= Self.forgottenAfter else { return .wait }
        if submissions < Self.submissionLimit { return .submit }
        if let complaint { return .fail(SlurmCommands.silent("sbatch", complaint)) }
        return .fail(
            ReachProblem(
                .allocationForgotten,
                "Slurm accepted the allocation \(name) \(submissions) times and forgot it each time. "
                    + "See in slurmctld's log why it was restarted."))
    }

    /// What became of a job, as the predicate of a sentence about it.
    static func predicate(of state: SlurmJobState) -> String {
        switch state {
        case .waiting, .stuck: "waits"
        case .running: "runs"
        case .ending: "is being ended by Slurm"
        case .ended(.completed): "ended by itself"
        case .ended(.failed): "failed"
        case .ended(.cancelled): "was cancelled at Slurm"
        case .ended(.timedOut): "reached its time limit"
        case .ended(.nodeLost): "lost its node"
        case .ended(.outOfMemory): "used more memory than it was given"
        case .ended(.preempted): "gave way to another job"
        case .ended(.other(let state)): "ended with Slurm's state \(ReachProblem.lastWords(of: state))"
        }
    }
}
