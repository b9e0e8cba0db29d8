"""Runs on 1, 2 and 4 nodes of Slurm, what a step costs there beside srun, and the daemon's own time; needs root."""

import datetime
import os
import pathlib
import shutil
import sys
import time

from bench import own_processor_seconds, processor_seconds
from figures import Unit

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "pool"))

# It takes minutes, starts a cluster, and needs root.
ON_REQUEST = True
RUNS_A_MINUTE = Unit("1/min", lambda value: f"{value:.1f} a minute", more_is_better=True)
# A step of a run sleeps, because all nodes share the processors of this machine.
SLEEP = 5
WORKFLOWS = '''import Pipeline

/// One after the other.
func steps(_ count: Int) -> [Step] {
    var steps: [Step] = []
    for number in 1...count { steps.append(Step("s\\(number)", needs: steps.suffix(1), run: "true").neverProved()) }
    return steps
}
@main struct Workflows: WorkflowSet {
    static let workflows = [
        Workflow("sleep", on: .push(to: "sleep/*")) { Step("s", run: "sleep SLEEP").neverProved() }.on(.label("node")),
        Workflow("many", on: .push(to: "many/*")) { steps(MANY) }.on(.label("node")),
    ]
}
'''


def measure(bench):
    from box import Box
    from cluster import Cluster

    if os.getuid() != 0 or not shutil.which("sbatch"):
        bench.missing("Slurm", "needs root, and script/bootstrap --cluster")
        return
    work = pathlib.Path(bench.root) / "pool"
    work.mkdir(mode=0o755)
    with Cluster(work) as cluster:
        box = Box(bench.pipectl, work, cluster)
        many = bench.amount(41, 11)
        box.make({"workflows/x.swift": WORKFLOWS.replace("SLEEP", str(SLEEP)).replace("MANY", str(many))})
        box.add_cluster(slots=1)
        try:
            box.start()
            box.until_said("baseline")
            steps(bench, box, many)
            rates(bench, box)
        finally:
            box.stop()


def steps(bench, box, many):
    """Steps that do nothing: in a run, and by srun in an allocation that is held as that of a run is."""
    cluster = box.cluster
    job = cluster.slurm("sbatch", "--parsable", "--no-requeue", "-J", "held", "-o", "/dev/null", "--wrap", "sleep 3600")
    box.until("allocation", lambda: cluster.slurm("squeue", "-h", "-t", "running", "-j", job, "-o", "%i"))
    numbers = iter(range(1, 1_000))

    def ours():
        [run] = passed(box, "many", [next(numbers)])
        attempts = [attempt for step in box.report(run)["steps"] for attempt in step["attempts"]]
        times = [datetime.datetime.fromisoformat(attempt[key].replace("Z", "+00:00")).timestamp()
                 for attempt in attempts for key in ("startedAt", "endedAt")]
        return (max(times) - min(times)) / many

    def srun():
        begun = time.perf_counter()
        for _ in range(many):
            bench.run(["srun", f"--jobid={job}", "--overlap", "--unbuffered", "true"], variables=cluster.environment)
        return (time.perf_counter() - begun) / many

    found = bench.trials(srun=srun, ours=ours)
    cluster.slurm("scancel", job)
    bench.figure(f"srun in a held allocation: each of {many} after each other", found["srun"])
    bench.figure(
        f"a run, in its sandbox: each of {many} steps after each other", found["ours"], beside=found["srun"], of="srun")


def rates(bench, box):
    numbers = iter(range(1, 1_000))
    for nodes in (1, 2, 4):
        box.call("machines", "remove", "cluster")
        box.add_cluster(slots=nodes)
        passed(box, "sleep", [next(numbers)])  # the daemon has read the list, and the agent is there
        many, pid = bench.amount(8, 3) * nodes, box.process.pid
        own, all_of_it, begun = own_processor_seconds(pid), processor_seconds(pid), time.perf_counter()
        passed(box, "sleep", [next(numbers) for _ in range(many)])
        taken = time.perf_counter() - begun
        bench.figure(
            f"runs of one step that sleeps {SLEEP} s, on {nodes} node{'s' if nodes > 1 else ''}", [many / taken * 60],
            RUNS_A_MINUTE, beside=[nodes * 60 / SLEEP], of="only the sleep")
        bench.figure("processor time of the daemon for each of them", [(own_processor_seconds(pid) - own) / many])
        bench.figure(
            "the same with its commands, among them srun and squeue", [(processor_seconds(pid) - all_of_it) / many])


def passed(box, kind, numbers):
    """Pushes branches at once, and waits until their runs have passed; returns the runs."""
    tree = box.git("rev-parse", "main^{tree}")
    commits = {box.git("commit-tree", tree, "-p", "main", "-m", f"{kind} {number}"): number for number in numbers}
    words = "".join(f"create refs/heads/{kind}/{number} {commit}\n" for commit, number in commits.items())
    box.git("update-ref", "--stdin", input=words)
    box.call("notify", codes=None)
    runs = box.until("verdicts", lambda: ended(box, commits), 600, 0.2)
    for run in runs:
        if run["verdict"] != "passed":
            raise AssertionError(f"run {run['id']}: {run['verdict']}: {run.get('reason')}")
    return runs


def ended(box, commits):
    runs = [run for run in box.runs() if run["head"] in commits and run.get("verdict")]
    return runs if len(runs) == len(commits) else None
