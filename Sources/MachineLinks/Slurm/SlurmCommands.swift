import Results
import Sandbox

/// Slurm's commands, and what they answer.
package struct SlurmCommands: Sendable {
    /// The environment of the commands: PATH, and SLURM_CONF where it is needed. What a job of Slurm has in its own
    /// environment must not be in it.
    package var environment: [String: String]
    /// The time limit of one command.
    package var limit: Duration

    package init(environment: [String: String], limit: Duration = .seconds(30)) {
        self.environment = environment
        self.limit = limit
    }

    /// The variables of this process that Slurm's commands need.
    ///
    /// They pass their environment on to the job, and Slurm writes it down. So nothing else of the daemon's is in it, no
    /// token, and no variable of a job of Slurm in which it was started.
    package static func environment(of own: [String: String]) -> [String: String] {
        let names: Set = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SLURM_CONF"]
        return own.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    /// What became of a submission.
    enum Submission: Sendable, Equatable {
        case accepted(id: Int)
        /// Slurm said no to this request, in these words.
        case refused(String)
        /// Slurm takes no requests at all now, in these words.
        case closed(String)
        /// Nobody knows whether Slurm has it.
        case unanswered(String)
    }

    /// Submits an allocation, in which the agent is started later: see ``LastingAgent/jobScript``.
    ///
    /// - Throws: ``ReachProblem``, `CancellationError`.
    func submit(_ request: SlurmRequest) async throws -> Submission {
        let options = try request.options()
        let ended = try await run("sbatch", options + ["--wrap", LastingAgent(request).jobScript])
        let words = ReachProblem.lastWords(of: ended.text)
        switch ended.ending {
        case .exited(0):
            // The last line is the id, with the cluster's name behind it if there are several; warnings come before.
            guard let id = Int(words.prefix { $0 != ";" }) else { return .unanswered("sbatch printed \"\(words)\"") }
            return .accepted(id: id)
        case .exited: return Self.refusal(ended.text)
        case .signal(let number): return .unanswered("sbatch was ended by signal \(number)")
        case .deadline(let limit): return .unanswered("sbatch did not end within \(limit.inWords)")
        }
    }

    /// What it means that `sbatch` failed with this output.
    static func refusal(_ text: String) -> Submission {
        let words = ReachProblem.lastWords(of: text)
        // The controller, munge or the configuration is to blame, not the request.
        let silence = [
            "Unable to contact", "timed out", "onnection refused", "Zero Bytes", "Communication", "temporarily",
            "authentication", "Munge", "munge", "configuration source", "configuration file", "Unable to resolve",
            "standby",
        ]
        if silence.contains(where: { text.contains($0) }) { return .unanswered(words) }
        return text.contains("inactive or drain") ? .closed(words) : .refused(words)
    }

    /// The jobs of this user with a name, among them those that ended a short time ago.
    ///
    /// - Throws: ``ReachProblem`` with `controllerUnreachable` if Slurm does not answer; `CancellationError`.
    func jobs(named name: String) async throws -> [SlurmJob] {
        try await lines("squeue", ["--me", "-h", "-t", "all", "-n", name, "-o", SlurmJob.format]).compactMap {
            SlurmJob(line: $0)
        }
    }

    /// A command that runs even if the task was cancelled.
    func lastCommand(_ program: String, _ arguments: [String]) -> LastCommand {
        LastCommand(words: [program] + arguments, environment: environment, limit: limit)
    }

    /// Cancels one job.
    func cancel(_ id: Int) async throws { _ = try await lines("scancel", [String(id)]) }

    /// Cancels the allocations of an earlier life of this pipectl.
    ///
    /// - Parameter names: Those that are still wanted.
    /// - Returns: The names of those that were cancelled.
    package func cancelLeftovers(of owner: String, except names: Set<String> = []) async throws -> [String] {
        let jobs = try await lines("squeue", ["--me", "-h", "-o", SlurmJob.format]).compactMap { SlurmJob(line: $0) }
        let left = jobs.filter {
            $0.comment == owner && $0.name.hasPrefix("pipectl-") && !names.contains($0.name) && $0.state.isAlive
        }
        for job in left { try await cancel(job.id) }
        return left.map(\.name)
    }

    /// The nodes of a partition.
    ///
    /// - Parameter partition: Nil for the default one; if the cluster has none, for all nodes.
    /// - Throws: ``ReachProblem``, `CancellationError`.
    package func nodes(in partition: String? = nil) async throws -> [SlurmNode] {
        let words = ["-h", "-N", "-o", SlurmNode.format] + (partition.map { ["-p", $0] } ?? [])
        let found = try await lines("sinfo", words).compactMap { SlurmNode(line: $0) }
        let wanted = found.contains(where: \.isOfDefault) && partition == nil ? found.filter(\.isOfDefault) : found
        var names: Set<String> = []
        // A node is listed once for each of its partitions.
        return wanted.filter { names.insert($0.name).inserted }
    }

    /// The architecture of each node, by name, as ``MachinePlatform`` names it; that of a node that has never been up is
    /// missing.
    ///
    /// - Throws: ``ReachProblem``, `CancellationError`.
    package func architectures() async throws -> [String: String] {
        Self.architectures(in: try await lines("scontrol", ["show", "node", "-o"]))
    }

    /// Reads what scontrol prints: a line for each node.
    static func architectures(in lines: [Substring]) -> [String: String] {
        var found: [String: String] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard let name = words.first, name.hasPrefix("NodeName="),
                let text = words.first(where: { $0.hasPrefix("Arch=") })
            else { continue }
            let machine = MachinePlatform(system: "Linux", machine: String(text.dropFirst("Arch=".count)))
            found[String(name.dropFirst("NodeName=".count))] = machine.architecture
        }
        return found
    }

    private func lines(_ program: String, _ arguments: [String]) async throws -> [Substring] {
        let ended = try await run(program, arguments)
        guard ended.succeeded else {
            throw Self.silent(program, ReachProblem.lastWords(of: ended.text))
        }
        return ended.text.split(whereSeparator: \.isNewline)
    }

    static func silent(_ program: String, _ words: String) -> ReachProblem {
        ReachProblem(
            .controllerUnreachable,
            "Slurm does not answer (\(program): \(words)). Check with `scontrol ping` that slurmctld runs.")
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> ExternalCommandResult {
        let command = ExternalCommand(
            program, arguments, in: "/", environment: environment, deadline: limit, outputLimit: 4 << 20)
        do { return try await command.run() } catch let error as ExternalCommandError {
            throw ReachProblem(.missingProgram, error.description)
        }
    }
}
