"""One more step in a graph of many that may run two at a time, beside make, ninja and Buildbot."""

import shutil

from figures import MILLISECONDS
from peers.buildbot import Buildbot


# A line that each of them gives to a shell, and a program, for which the shell forks in turn; make starts it without one.
LINES = {"line": "true && true", "program": "/bin/true"}


def measure(bench):
    steps = bench.amount(200, 50)
    workflows, makefile, ninja = [], "", ""
    for kind, line in LINES.items():
        workflows.append(f'Workflow("{kind}") {{ Step("one", run: "{line}") }}')
        workflows.append(f'Workflow("{kind}s") {{ for n in 1...{steps} {{ Step("s\\(n)", run: "{line}") }} }}')
        names = [f"{kind}-{n}" for n in range(1, steps + 1)]
        makefile += f".PHONY: {kind} {kind}s {' '.join(names)}\n{kind}s: {' '.join(names)}\n"
        makefile += "".join(f"{name}:\n\t@{line}\n" for name in [kind, *names])
        ninja += f"rule {kind}\n  command = {line}\n"
        ninja += "".join(f"build {name}: {kind}\n" for name in [kind, *names])
        ninja += f"build {kind}s: phony {' '.join(names)}\n"
    path = bench.repository("steps", bench.workflow_set(*workflows), {"Makefile": makefile, "build.ninja": ninja})
    words = [bench.pipectl, "run", "--slots", "2", "--ref", "main"]
    # Some ten a second, one after the other in one build, as Buildbot has no graph; so a tenth of them.
    few = max(steps // 10, 5)
    buildbot = Buildbot(bench, {"many": [LINES["line"]] * few, "one": [LINES["line"]]}, executors=1)

    def each(words, kind, home="state", variables=None):
        def trial():
            # The code is merged, so it may go without a sandbox where there is none.
            bench.extra = variables or {}
            many, one = [*words, f"{kind}s"], [*words, kind]
            return (bench.call(many, cwd=path, home=home) - bench.call(one, cwd=path, home=home)) / (steps - 1)
        return trial

    trials = {}
    peers = [peer for peer in ("make", "ninja") if peer == "make" or bench.peer(peer)]
    for kind in LINES:
        for peer in peers:
            trials[f"{peer} {kind}"] = each([peer, "-j2"], kind)
        trials[f"bare {kind}"] = each(words, kind, "state-bare", {"PIPECTL_BWRAP": "/bin/false"})
        trials[f"ours {kind}"] = each(words, kind)
    found = bench.trials(
        **trials, **buildbot.trial("buildbot", lambda: (buildbot.run("many") - buildbot.run("one")) / (few - 1)))
    for kind, line in LINES.items():
        for peer in peers:
            bench.figure(f"{peer} -j2: each of {steps} of {line}", found[f"{peer} {kind}"])
        for peer in peers:
            theirs = found[f"{peer} {kind}"]
            goal = MILLISECONDS.at_most(2)
            bench.figure(
                f"pipectl run --slots 2, no sandbox: each of {steps} of {line}", found[f"bare {kind}"], beside=theirs,
                of=f"{peer} -j2", goal=goal)
            bench.figure(
                f"pipectl run --slots 2, one sandbox: each of {steps} of {line}", found[f"ours {kind}"], beside=theirs,
                of=f"{peer} -j2", goal=goal)
    theirs = [value for value in found.get("buildbot", []) if value is not None]
    buildbot.figure(f"one build, each of {few}", theirs)
    buildbot.compare(f"pipectl run --slots 2, one sandbox: each of {steps}", found["ours line"], theirs)
    bench.missing("Laminar", "has no steps" if shutil.which("laminard") else "not found: laminard; it has no steps")
