/// `srun` in an allocation.
struct SrunShell: MachineShell {
    let job: SlurmJob
    let environment: [String: String]

    var name: String {
        guard case .running(let node) = job.state, !node.isEmpty else { return "Slurm's job \(job.id)" }
        return "\(node) (Slurm's job \(job.id))"
    }

    func words(running script: String) -> [String] {
        [
            "srun", "--jobid=\(job.id)", "--overlap", "--unbuffered", "--nodes=1", "--ntasks=1", "--chdir=/",
            "--", "/bin/sh", "-c", script,
        ]
    }

    func problem(_ code: Int32, _ complaint: String) -> ReachProblem? {
        guard code != 0 else { return nil }
        // srun says it itself when a step can't be made; what ends with a code of its own is only mentioned.
        let failures = ["Unable to create step", "Unable to confirm allocation", "Job step aborted", "launch failed"]
        guard let failure = failures.first(where: { complaint.contains($0) }) else { return nil }
        let line = complaint.split(whereSeparator: \.isNewline).first { $0.contains(failure) }
        return ReachProblem(
            .allocationLost,
            "\(name) can't run a step: \(ReachProblem.lastWords(of: String(line ?? ""))). Start the run again; "
                + "`sinfo -R` says whether a node is out of service.")
    }
}
