"""One more step in a graph of many that may run two at a time, beside make, ninja and Buildbot."""

import shutil
import statistics

from figures import SECONDS
from peers.buildbot import Buildbot


def measure(bench):
    steps = bench.amount(200, 50)
    every = f'Workflow("many") {{ for n in 1...{steps} {{ Step("s\\(n)", run: "true && true") }} }}'
    names = [f"s{n}" for n in range(1, steps + 1)]
    makefile = f".PHONY: all one {' '.join(names)}\nall: {' '.join(names)}\n"
    makefile += "".join(f"{name}:\n\t@true && true\n" for name in ["one", *names])
    ninja = "rule t\n  command = true && true\n" + "".join(f"build {name}: t\n" for name in ["one", *names])
    ninja += f"build all: phony {' '.join(names)}\ndefault all\n"
    path = bench.repository(
        "steps", bench.workflow_set('Workflow("one") { Step("one", run: "true && true") }', every),
        {"Makefile": makefile, "build.ninja": ninja})
    words = [bench.pipectl, "run", "--slots", "2", "--ref", "main"]
    peers = {"make": (["make", "-j2", "all"], ["make", "-j2", "one"])}
    if bench.peer("ninja"):
        peers["ninja"] = (["ninja", "-j2"], ["ninja", "-j2", "one"])
    # One after the other in one build, as Buildbot has no graph; some ten a second, so a tenth of them.
    few = max(steps // 10, 5)
    line = "true && true"
    buildbot = Buildbot(bench, {"many": [line] * few, "one": [line]}, executors=1)
    ours = ([*words, "many"], [*words, "one"])

    def each(many, one, home="state", variables=None):
        def trial():
            # The code is merged, so it may go without a sandbox where there is none.
            bench.extra = variables or {}
            return (bench.call(many, cwd=path, home=home) - bench.call(one, cwd=path, home=home)) / (steps - 1)
        return trial

    found = bench.trials(
        **{name: each(*commands) for name, commands in peers.items()},
        bare=each(*ours, "state-bare", {"PIPECTL_BWRAP": "/bin/false"}), ours=each(*ours),
        **buildbot.trial("buildbot", lambda: (buildbot.run("many") - buildbot.run("one")) / (few - 1)))
    for name in ("make", "ninja"):
        if name in found:
            bench.figure(f"{name} -j2: each of {steps}", found[name])
    for name in ("make", "ninja"):
        if name in found:
            goal = SECONDS.at_most(statistics.median(found[name])) if name == "ninja" else None
            bench.figure(
                f"pipectl run --slots 2, no sandbox: each of {steps}", found["bare"], beside=found[name],
                of=f"{name} -j2", goal=goal)
            bench.figure(
                f"pipectl run --slots 2, one sandbox: each of {steps}", found["ours"], beside=found[name],
                of=f"{name} -j2")
    theirs = [value for value in found.get("buildbot", []) if value is not None]
    buildbot.figure(f"one build, each of {few}", theirs)
    buildbot.compare(f"pipectl run --slots 2, one sandbox: each of {steps}", found["ours"], theirs)
    bench.missing("Laminar", "has no steps" if shutil.which("laminard") else "not found: laminard; it has no steps")
