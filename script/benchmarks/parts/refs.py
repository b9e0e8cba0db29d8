"""A repository of 100,000 refs: the first look, one at which nothing moved, one at which one ref moved."""

import os
import statistics
import time

from bench import own_processor_seconds
from figures import MILLISECONDS


def measure(bench):
    number = bench.amount(100_000, 20_000)
    workflows = bench.workflow_set(
        f'Workflow("test", on: .pullRequest(into: "main")) {{ {bench.starting_step("refs-started")} }}')
    path, small = bench.repository("refs", workflows), bench.repository("few", workflows)
    tip = bench.git("rev-parse", "HEAD", cwd=path)
    bench.packed_refs(path, {f"refs/pull/{n}/head": tip for n in range(1, number + 1)})

    def forget():
        # The compiled workflow stays: only the baseline is measured.
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(f"{bench.root}/refs-state/index.sqlite{suffix}"):
                os.unlink(f"{bench.root}/refs-state/index.sqlite{suffix}")

    look = [bench.pipectl, "watch", "--once", path]

    def baseline():
        forget()
        return bench.call(look, home="refs-state")

    found = bench.trials(
        git=lambda: bench.call(["git", "for-each-ref"], cwd=path),
        few=lambda: bench.call([*look[:-1], small], home="few-state"),
        baseline=baseline, unmoved=lambda: bench.call(look, home="refs-state"))
    bench.figure(f"{number:,} refs: git for-each-ref", found["git"])
    bench.figure("watch --once of one ref, nothing moved", found["few"])
    bench.figure(
        f"{number:,} refs: watch --once, baseline", found["baseline"], beside=found["git"], of="git for-each-ref")
    bench.figure(
        f"{number:,} refs: watch --once, nothing moved", found["unmoved"], beside=found["git"], of="git for-each-ref")

    daemon = bench.daemon("refs-state", "--interval", "3600", path)
    other = bench.daemon("few-state", "--interval", "3600", small)
    time.sleep(2)

    def look_again():
        # Processor time: the look goes on after `notify` has been answered.
        before = own_processor_seconds(daemon.pid)
        bench.run([bench.pipectl, "notify"], home="refs-state")
        time.sleep(0.5)
        return own_processor_seconds(daemon.pid) - before

    bench.figure(
        f"{number:,} refs: a look of the daemon, nothing moved, processor", bench.trials(look=look_again)["look"],
        goal=MILLISECONDS.at_most(120))
    count = 0

    def react(folder):
        nonlocal count
        count += 1
        taken = bench.push(folder, "refs-started", count)
        time.sleep(1)
        return taken

    found = bench.trials(few=lambda: react(small), many=lambda: react(path))
    bench.figure("few refs: push to first step", found["few"])
    bench.figure(
        f"{number:,} refs: push to first step", found["many"], beside=found["few"], of="few refs",
        goal=MILLISECONDS.at_most(200))
    bench.stop(daemon)
    bench.stop(other)
