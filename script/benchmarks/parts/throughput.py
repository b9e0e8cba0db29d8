"""Runs a second of a workflow with one step, queued by one push: durable, sandboxed, two slots, on disk and in memory."""

import os
import shutil
import sqlite3
import tempfile
import time

from bench import Problem, processor_seconds
from figures import PER_SECOND


def measure(bench):
    number = bench.amount(200, 40)
    path = bench.repository(
        "throughput", bench.workflow_set('Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }'))
    memory = tempfile.mkdtemp(prefix="pipectl-bench.", dir="/dev/shm")
    serial = 0

    def ended(home):
        index = sqlite3.connect(f"file:{home}/index.sqlite?mode=ro", uri=True, timeout=10)
        try:
            return index.execute("SELECT count(*) FROM run WHERE isArchived").fetchone()[0]
        finally:
            index.close()

    def burst(home, daemon, many):
        """Seconds of the wall and of the processor, ours and our children's, until so many runs are archived."""
        nonlocal serial
        lines = []
        for _ in range(many):
            serial += 1
            # Each another tree: a step that has passed on the same files is not run again.
            lines.append(
                f"commit refs/pull/{serial}/head\ncommitter Bench <bench@example.com> {1_700_000_000 + serial} +0000\n"
                f"data 4\nRun\n\nfrom refs/heads/main\nM 644 inline number\ndata <<END\n{serial}\nEND\n\n")
        before, used = ended(home), processor_seconds(daemon.pid)
        started = time.perf_counter()
        bench.run(["git", "fast-import", "--quiet"], cwd=path, input="".join(lines).encode())
        while ended(home) < before + many:
            if time.perf_counter() - started > 600:
                raise Problem(f"{many} runs did not end within 600 s")
            time.sleep(0.005)
        wall = time.perf_counter() - started
        return many / wall, (processor_seconds(daemon.pid) - used) / many

    try:
        for where, home in (("on disk", "throughput-state"), ("in memory", memory)):
            daemon = bench.daemon(home, "--interval", "3600", "--slots", "2", "--no-refresh", path)
            folder = os.path.join(bench.root, home)
            time.sleep(2)
            burst(folder, daemon, 10)
            found = [burst(folder, daemon, number) for _ in range(max(bench.count // 2, 3))]
            bench.figure(
                f"{number} runs of one step, state {where}", [runs for runs, _ in found], unit=PER_SECOND,
                goal=PER_SECOND.at_least(100) if where == "on disk" else None)
            bench.figure(f"processor for each, state {where}", [cpu for _, cpu in found])
            bench.stop(daemon)
    finally:
        shutil.rmtree(memory, ignore_errors=True)
