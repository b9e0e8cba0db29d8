package import Machines
import Sandbox

/// Starts the agent in an allocation of its own at Slurm.
///
/// The agent is lasting: it runs in the job's script, and steps of the job by `srun` carry connections with it. A
/// connection that is lost, with `srun` or with this pipectl, ends nothing: ``resume(_:)`` makes another one. `srun` is
/// never interrupted with SIGINT, because its exit code would be 0 then. What nobody asks for ends by itself, at the
/// allocation's time limit, or with ``SlurmCommands/cancelLeftovers(of:except:)``.
package struct SlurmLink: AgentLink {
    private let request: SlurmRequest
    private let slurm: SlurmCommands
    private let programs: [AgentPrograms]
    private let given: @Sendable (String) -> Void

    /// - Parameters:
    ///   - programs: The agent, for each platform that we have it for.
    ///   - given: Told the node of the allocation.
    package init(
        _ request: SlurmRequest, _ slurm: SlurmCommands, _ programs: [AgentPrograms],
        given: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.request = request
        self.slurm = slurm
        self.programs = programs
        self.given = given
    }

    package func start() async throws -> AgentStream {
        do {
            let job = try await allocate()
            if case .running(let node) = job.state, !node.isEmpty { given(node) }
            let shell = SrunShell(job: job, environment: slurm.environment)
            let command = try await AgentPlacing(shell: shell, programs: programs).command()
            let agent = LastingAgent(request)
            return try stream(shell, agent.starting(command), agent)
        } catch {
            await Self.release(request.name, slurm)
            throw error
        }
    }

    package func resume(_ trace: String) async throws -> AgentStream {
        guard let agent = LastingAgent(trace) else {
            throw ReachProblem(.unknownAnswer, "\"\(ReachProblem.lastWords(of: trace))\" names no agent at Slurm.")
        }
        guard agent.version == LastingAgent.version(of: programs) else {
            throw ReachProblem(.agentMissing, "The agent of \(agent.name) is that of another pipectl.")
        }
        let shell = SrunShell(job: try await found(agent), environment: slurm.environment)
        return try stream(shell, agent.connecting, agent)
    }

    package func end(_ trace: String) async { await Self.end(trace, slurm) }

    /// Ends a lasting agent with its allocation.
    package static func end(_ trace: String, _ slurm: SlurmCommands) async {
        if let agent = LastingAgent(trace) { await release(agent.name, slurm) }
    }

    /// The name of a lasting agent's allocation; nil if the trace is none of Slurm.
    package static func name(in trace: String) -> String? { LastingAgent(trace)?.name }

    private func stream(_ shell: SrunShell, _ script: String, _ agent: LastingAgent) throws -> AgentStream {
        let slurm = slurm
        var stream = try CarriedStream.start(
            shell.words(running: script), environment: slurm.environment, of: shell.name
        ) { ending, keepsAgent in
            let reason = ending.isOwn ? Self.reason(ending, await Self.found(agent.name, slurm)) : nil
            if !keepsAgent { await Self.release(agent.name, slurm) }
            return reason
        }
        stream.trace = agent.trace(programs)
        return stream
    }

    /// The allocation of an agent that was started before.
    private func found(_ agent: LastingAgent) async throws -> SlurmJob {
        let limit = ContinuousClock.now + .seconds(60)
        while true {
            switch try await look(agent.name) {
            case .jobs(let jobs):
                if let job = jobs.first(where: { if case .running = $0.state { true } else { false } }) { return job }
                let state = jobs.max { $0.id < $1.id }?.state
                throw ReachProblem(
                    .allocationLost,
                    "The allocation \(agent.name) \(state.map(AllocationProgress.predicate) ?? "is gone").")
            case .unanswered(let problem): guard ContinuousClock.now < limit else { throw problem }
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    // MARK: The allocation

    /// Waits for an allocation; it is asked for once, unless Slurm forgets it.
    private func allocate() async throws -> SlurmJob {
        var progress = AllocationProgress(name: request.name)
        let clock = ContinuousClock()
        let begin = clock.now
        while true {
            let sight = try await look(request.name)
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

    private func look(_ name: String) async throws -> AllocationProgress.Sight {
        do { return .jobs(try await slurm.jobs(named: name)) } catch let problem as ReachProblem {
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
