"""The choice of machines: 10,000 waiting runs on 100 simulated ones, with regard to snapshots and at random."""

import os
import subprocess

from figures import COUNT, MILLISECONDS, SECONDS


def measure(bench):
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
