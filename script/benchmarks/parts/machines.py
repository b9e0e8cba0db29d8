"""The choice of machines (10,000 waiting runs on 100 simulated ones), and what travels to one: commits and 1 GiB of outputs."""

import os
import shutil
import subprocess
import tempfile
import time

from figures import COUNT, MEBIBYTES, MILLISECONDS, SECONDS

# In the place of ssh for rsync: leaves out the host, and runs the command on this machine.
STAND_IN = '#!/bin/sh\nshift\nexec "$@"\n'


def measure(bench):
    choice(bench)
    transfer(bench)


def transfer(bench):
    """To an agent that is a child of the program, so that neither a network nor ssh is measured."""
    beside = os.path.dirname(bench.pipectl)
    program, agent = os.path.join(beside, "machine-transfer"), os.path.join(beside, "pipectl-agent")
    for needed in (program, agent):
        if not os.path.exists(needed):
            name = os.path.basename(needed)
            bench.missing(name, f"not built beside pipectl: swift build -c release --product {name}")
            return
    folder = tempfile.mkdtemp(prefix="transfer-", dir=bench.root)
    amount = bench.amount(1_024, 64)
    words = [program, agent, folder, str(amount)]
    text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=1_800).stdout
    found = {name: float(value) for name, value in (line.split() for line in text.splitlines())}
    rsync = copies(bench, folder)
    bench.figure("a commit of 2,000 files, to a machine that has none: sent", [found["commit-first-bytes"] / 2**20], MEBIBYTES)
    bench.figure(
        "a line of one of them, to a machine that has the commit before: bytes sent", [found["commit-line-bytes"]], COUNT,
        goal=COUNT.at_most(64 << 10))
    bench.figure("the same: time until its workspace is there", [found["commit-line-seconds"]])
    for number, what in ((1, f"{amount} MiB of outputs"), (2, "the same with 1 MiB more in the middle")):
        bench.figure(f"{what}: time", [found[f"outputs-{number}-seconds"]], beside=rsync and [rsync[number][0]], of="rsync")
        bench.figure(
            f"{what}: sent", [found[f"outputs-{number}-bytes"] / 2**20], MEBIBYTES, beside=rsync and [rsync[number][1]],
            of="rsync")
    shutil.rmtree(folder)


def copies(bench, folder):
    """The times of rsync for the same files over a pipe, and the MiB that it sent; None without rsync."""
    program = shutil.which("rsync")
    if not program:
        bench.missing("rsync")
        return None
    shell, target = os.path.join(folder, "shell"), os.path.join(folder, "copy")
    with open(shell, "w") as file:
        file.write(STAND_IN)
    os.chmod(shell, 0o755)
    found = {}
    for number in (1, 2):
        words = [program, "-e", shell, "--stats", "--no-whole-file", f"{folder}/outputs-{number}", f"there:{target}"]
        begun = time.monotonic()
        text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=1_800).stdout
        seconds = time.monotonic() - begun
        sent = next(line for line in text.splitlines() if line.startswith("Total bytes sent"))
        found[number] = (seconds, int("".join(c for c in sent if c.isdigit())) / 2**20)
    return found


def choice(bench):
    program = os.path.join(os.path.dirname(bench.pipectl), "pool-simulation")
    if not os.path.exists(program):
        bench.missing("pool-simulation", "not built beside pipectl: swift build -c release --product pool-simulation")
        return
    words = [program, "100", str(bench.amount(10_000, 1_000))]
    text = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600).stdout
    rows = (line.split() for line in text.splitlines())
    found = {(strategy, measure): float(value) for strategy, measure, value in rows}
    for strategy, words in (("random", "at random"), ("snapshots", "with regard to snapshots")):
        def value(measure):
            return found[strategy, measure]
        beside = [found["random", "work-seconds"]]
        if strategy == "random":
            bench.figure(f"{words}: simulated time of all runs", [value("work-seconds")], SECONDS)
        else:
            bench.figure(
                f"{words}: simulated time of all runs", [value("work-seconds")], SECONDS, beside=beside,
                of="at random")
        bench.figure(f"{words}: runs that began from a snapshot", [value("warm")], COUNT)
        bench.figure(f"{words}: later runs that overtook one run, at most", [value("most-overtaken")], COUNT)
        bench.figure(f"{words}: mean wait, simulated", [value("mean-wait-seconds")], SECONDS)
        bench.figure(
            f"{words}: one decision, median", [value("decision-median-us") / 1e6], goal=MILLISECONDS.at_most(1))
        bench.figure(
            f"{words}: one decision, 99 of 100", [value("decision-p99-us") / 1e6], goal=MILLISECONDS.at_most(1))
        bench.figure(f"{words}: decisions of more than 1 ms", [value("decisions-over-1-ms")], COUNT)
