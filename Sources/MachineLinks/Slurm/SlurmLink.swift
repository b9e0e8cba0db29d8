package import Machines
import Sandbox

/// Starts the agent in an allocation of its own at Slurm.
///
/// The allocation sleeps, and the agent is a step in it: it ends with its client, `srun`, which is never interrupted
/// with SIGINT, because its exit code would be 0 then. If this pipectl dies, its allocations end with their time limit,
/// or with ``SlurmCommands/cancelLeftovers(of:except:)``.
package struct SlurmLink: AgentLink {
    private let request: SlurmRequest
    private let slurm: SlurmCommands
    private let programs: [AgentPrograms]

    /// - Parameter programs: The agent, for each platform that we have it for.
    package init(_ request: SlurmRequest, _ slurm: SlurmCommands, _ programs: [AgentPrograms]) {
        self.request = request
        self.slurm = slurm
        self.programs = programs
    }

    package func start() async throws -> AgentStream {
        do {
            let shell = SrunShell(job: try await allocate(), environment: slurm.environment)
            let script = try await AgentPlacing(shell: shell, programs: programs).script()
            let (slurm, name) = (slurm, request.name)
            return try CarriedStream.start(
                shell.words(running: script), environment: slurm.environment, of: shell.name
            ) { ending in
                let reason = ending.isOwn ? Self.reason(ending, await Self.found(name, slurm)) : nil
                await Self.release(name, slurm)
                return reason
            }
        } catch {
            await Self.release(request.name, slurm)
            throw error
        }
    }

    // MARK: The allocation

    /// Waits for an allocation; it is asked for once, unless Slurm forgets it.
    private func allocate() async throws -> SlurmJob {
        var progress = AllocationProgress(name: request.name)
        let clock = ContinuousClock()
        let begin = clock.now
        while true {
            let sight = try await look()
            switch progress.next(sight, at: clock.now - begin) {
            case .submit:
                let submission = try await slurm.submit(request)
                if let problem = progress.submitted(submission, at: clock.now - begin) { throw problem }
            case .wait:
                // Frequent at first: an allocation on a free node takes half a second.
                try await Task.sleep(for: clock.now - begin < .seconds(5) ? .milliseconds(100) : .seconds(1))
            case .use(let job, let surplus):
                for id in surplus { try? await slurm.cancel(id) }
                return job
            case .fail(let problem): throw problem
            }
        }
    }

    private func look() async throws -> AllocationProgress.Sight {
        do { return .jobs(try await slurm.jobs(named: request.name)) } catch let problem as ReachProblem {
            guard problem.code == .controllerUnreachable else { throw problem }
            return .unanswered(problem)
        }
    }

    /// Cancels the allocation. If Slurm does not answer, its time limit ends it.
    private static func release(_ name: String, _ slurm: SlurmCommands) async {
        for _ in 1...3 where await slurm.lastCommand("scancel", ["--me", "-n", name]).output() != nil { return }
    }

    // MARK: The end

    /// The allocation, once Slurm knows how it ended or after some seconds; nil if Slurm does not answer.
    private static func found(_ name: String, _ slurm: SlurmCommands) async -> SlurmJob? {
        let words = ["--me", "-h", "-t", "all", "-n", name, "-o", SlurmJob.format]
        let limit = ContinuousClock.now + .seconds(8)
        while true {
            let text = await slurm.lastCommand("squeue", words).output() ?? ""
            let jobs = text.split(whereSeparator: \.isNewline).compactMap { SlurmJob(line: $0) }
            let job = jobs.max { $0.id < $1.id }
            guard job?.state == .ending, ContinuousClock.now < limit else { return job }
            // It fails at once if the task was cancelled, and then nobody asks for the reason.
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return job }
        }
    }

    /// Why the agent ended, as the predicate of a sentence about the machine.
    ///
    /// - Parameter job: The allocation; nil if Slurm does not answer, or no longer knows it.
    static func reason(_ ending: PipedProcess.Ending, _ job: SlurmJob?) -> String {
        let words = ReachProblem.lastWords(of: ending.complaint)
        let said = words.isEmpty ? "" : " (\(words))"
        // What became of the allocation says more than what srun saw of it.
        if let state = job?.state, !state.isAlive, state != .ending {
            return AllocationProgress.predicate(of: state) + said
        }
        switch ending.exitCode {
        case nil: return "lost its connection, because srun was ended by signal \(ending.signal ?? 0)"
        case 0: return "ended its agent"
        case let code?: return "ended its agent with exit code \(code)\(said)"
        }
    }
}
