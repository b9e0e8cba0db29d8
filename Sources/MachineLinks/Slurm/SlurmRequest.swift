/// What a run asks Slurm for.
package struct SlurmRequest: Sendable, Equatable {
    /// The name by which the allocation is found again: `pipectl-OWNER-RUN-ATTEMPT`, with the number of avoided nodes
    /// behind it.
    package let name: String
    /// Names the pipectl that asks, so that two of them do not end each other's allocations.
    package let owner: String
    /// Features that the node must have.
    package var labels: [String]
    package var cpus: Int
    /// In megabytes; nil for what the cluster gives.
    package var memory: Int?
    /// After this time Slurm ends the allocation, whatever has become of pipectl.
    package var limit: Duration
    /// Nil for the cluster's default.
    package var partition: String?
    /// Nodes that it must not have.
    let avoided: [String]
    /// Nobody can guess it, so nothing else gets into the folder of the agent by accident.
    let secret = String(UInt64.random(in: .min ... .max), radix: 36)

    package init(
        run: Int64, attempt: Int, owner: String, labels: [String] = [], cpus: Int = 1, memory: Int? = nil,
        limit: Duration, partition: String? = nil, avoiding avoided: [String] = []
    ) {
        name = "pipectl-\(owner)-\(run)-\(attempt)" + (avoided.isEmpty ? "" : "-\(avoided.count)")
        self.avoided = avoided
        self.owner = owner
        self.labels = labels
        self.cpus = cpus
        self.memory = memory
        self.limit = limit
        self.partition = partition
    }

    /// The options of `sbatch`.
    ///
    /// - Throws: ``ReachProblem`` if a text could be taken for more than a name.
    func options() throws(ReachProblem) -> [String] {
        for text in labels + avoided + [name, owner, partition ?? "x"] {
            guard ShellText.plainName(text) == text, !text.isEmpty, !text.hasPrefix("-") else {
                throw ReachProblem(
                    .allocationRefused,
                    "\"\(ReachProblem.lastWords(of: text))\" can't be a name at Slurm: use letters, digits, dots, dashes and underscores."
                )
            }
        }
        let minutes = max(1, Int((limit.components.seconds + 59) / 60))
        var options = [
            "--parsable", "--no-requeue", "-J", name, "--comment=\(owner)", "--nodes=1", "--ntasks=1",
            "--cpus-per-task=\(max(cpus, 1))", "--time=\(minutes)", "--chdir=/", "--output=/dev/null",
            "--error=/dev/null",
        ]
        if let memory { options.append("--mem=\(memory)M") }
        if !labels.isEmpty { options += ["-C", labels.joined(separator: "&")] }
        if !avoided.isEmpty { options.append("--exclude=\(avoided.joined(separator: ","))") }
        if let partition { options.append("--partition=\(partition)") }
        return options
    }
}
