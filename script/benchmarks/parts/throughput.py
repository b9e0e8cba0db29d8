"""Runs a second of one step each, queued at once: two slots, on disk and in memory, beside Laminar and Buildbot."""

import os
import shutil
import sqlite3
import statistics
import tempfile
import time

from bench import Problem, processor_seconds
from figures import PER_SECOND
from peers.buildbot import Buildbot
from peers.laminar import Laminar


class Ours:
    """A daemon that watches one repository; a burst is one command that makes the refs of so many changes."""

    def __init__(self, bench, home, path, serial):
        self.bench, self.path, self.serial = bench, path, serial
        self.folder = os.path.join(bench.root, home)
        # A step that another run has proved would not be run; each change is another tree, so none is.
        self.process = bench.daemon(home, "--interval", "3600", "--slots", "2", "--no-refresh", path)

    def burst(self, many):
        """Seconds from the command that makes the refs until so many runs have ended and are archived."""
        numbers = [next(self.serial) for _ in range(many)]
        # Whoever pushes has made the commits before; a ref that nobody watches has the last of them.
        commits = "".join(
            f"commit refs/bench/commits\nmark :{number}\ncommitter Bench <bench@example.com> {1_700_000_000 + number} "
            f"+0000\ndata 4\nRun\n\nfrom refs/heads/main^0\nM 644 inline number\ndata <<END\n{number}\nEND\n\n"
            for number in numbers)
        marks = os.path.join(self.folder, "bench-marks")
        self.bench.run(
            ["git", "fast-import", "--quiet", "--force", f"--export-marks={marks}"], cwd=self.path,
            input=commits.encode())
        with open(marks, encoding="ascii") as lines:
            made = dict(line.split() for line in lines)
        time.sleep(0.2)  # the look that the import gave rise to
        refs = "".join(f"create refs/pull/{number}/head {made[f':{number}']}\n" for number in numbers)
        index = sqlite3.connect(f"file:{self.folder}/index.sqlite?mode=ro", uri=True, timeout=10)
        try:
            (newest,) = index.execute("SELECT coalesce(max(id), 0) FROM run").fetchone()
            started = time.perf_counter()
            self.bench.run(["git", "update-ref", "--stdin"], cwd=self.path, input=refs.encode())
            while True:
                ended, failed = index.execute(
                    "SELECT count(*), coalesce(sum(verdict != 'passed'), 0) FROM run WHERE id > ? AND isArchived",
                    (newest,)).fetchone()
                if failed:
                    raise Problem(f"{failed} runs did not pass")
                if ended == many:
                    return time.perf_counter() - started
                if time.perf_counter() - started > 600:
                    raise Problem(f"{many} runs did not end within 600 s")
                # Asked every few milliseconds, it would take a tenth of a processor from what is measured.
                time.sleep(0.02)
        finally:
            index.close()


def rate(burst, pids, many):
    """Runs a second, and processor seconds of each: the daemon's with its children's."""
    used = sum(processor_seconds(pid) for pid in pids)
    taken = burst(many)
    return many / taken, (sum(processor_seconds(pid) for pid in pids) - used) / many


def measure(bench):
    number, few = bench.amount(200, 40), bench.amount(20, 5)
    path = bench.repository(
        "throughput", bench.workflow_set('Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }'))
    memory = tempfile.mkdtemp(prefix="pipectl-bench.", dir="/dev/shm")
    serial = iter(range(1, 1_000_000))
    try:
        for where, root in (("on disk", bench.root), ("in memory", memory)):
            one_place(bench, path, where, root, serial, number, few)
    finally:
        shutil.rmtree(memory, ignore_errors=True)


def one_place(bench, path, where, root, serial, number, few):
    ours = Ours(bench, os.path.join(root, "throughput-state"), path, serial)
    laminar = Laminar(bench, {"test": "true", "enclosed": Laminar.enclosed(path, "main", root, "true")}, root)
    buildbot = Buildbot(bench, {"test": ["true"]}, root)
    time.sleep(2)
    ours.burst(10)
    for job in ("test", "enclosed"):
        # The first run of a job alone: two that begin at once fail over who makes the job's workspace.
        laminar.attempt(lambda job=job: laminar.run(job) + laminar.run(job, 10))
    buildbot.attempt(lambda: buildbot.run("test", 2))

    def trial(burst, processes, many):
        time.sleep(1)  # what the burst before left to be done is done
        return rate(burst, [process.pid for process in processes], many)

    trials = max(bench.count // 2, 3)
    bodies = {
        "file": lambda: bench.new_file(root),
        "ours": lambda: trial(ours.burst, [ours.process], number),
        **laminar.trial("test", lambda: trial(lambda n: laminar.run("test", n), laminar.processes, number)),
        **laminar.trial("enclosed", lambda: trial(lambda n: laminar.run("enclosed", n), laminar.processes, number)),
        **buildbot.trial("buildbot", lambda: trial(lambda n: buildbot.run("test", n), buildbot.processes, few))}
    found = {name: [] for name in bodies}
    for _ in range(trials):
        for name, body in bodies.items():
            found[name].append(body())

    def split(name):
        return tuple(zip(*(pair for pair in found.get(name, []) if pair))) or ((), ())

    bench.figure(f"a new file of 1 kB, {where}", found["file"])
    runs, used = split("ours")
    name, used_name = f"{number} runs, sandboxed, durable, state {where}", f"processor for each, state {where}"
    bench.figure(name, runs, PER_SECOND)
    bench.figure(used_name, used)
    for peer, key, many, what in (
            (laminar, "test", number, "no sandbox"), (laminar, "enclosed", number, "git archive and bwrap in the job"),
            (buildbot, "buildbot", few, "no sandbox")):
        theirs, their_used = split(key)
        peer.figure(f"{many} runs, {what}, state {where}", theirs, PER_SECOND)
        peer.figure(used_name, their_used)
        of = f"{peer.title}, {what}"
        least = PER_SECOND.at_least(statistics.median(theirs)) if key == "enclosed" and theirs else None
        peer.compare(name, runs, theirs, of, unit=PER_SECOND, goal=least)
        peer.compare(used_name, used, their_used, of)
    for peer in (laminar, buildbot):
        peer.stop()
    bench.stop(ours.process)
