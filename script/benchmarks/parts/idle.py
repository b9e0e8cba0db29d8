"""A daemon with nothing to do: memory and processor, of one repository and of 100, beside Laminar and Buildbot."""

import time

from bench import Memory, own_processor_seconds, processor_seconds
from figures import COUNT, MEBIBYTES, PERCENT_OF_A_CORE
from peers.buildbot import Buildbot
from peers.laminar import Laminar


def measure(bench):
    many = bench.amount(100, 20)
    refs = 2_000
    seconds = bench.amount(180, 20)  # each local repository is looked at once in that time
    workflows = bench.workflow_set('Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }')
    paths = []
    for number in range(many):
        path = bench.repository(f"idle/repository-{number}", workflows)
        tip = bench.git("rev-parse", "HEAD", cwd=path)
        names = {f"refs/pull/{n}/head": tip for n in range(1, refs + 1)}
        bench.packed_refs(path, names)
        paths.append(path)

    def rest(name, watched, goals):
        home = f"idle-state-{len(watched)}"
        first = bench.daemon(home, *watched)
        # The first start of all compiles workflows and records baselines.
        time.sleep(5 + len(watched) * 0.3)
        bench.stop(first)
        process = bench.daemon(home, *watched)
        time.sleep(65 + len(watched) * 0.1)  # memory goes back after a minute in which nothing happened
        before, started = own_processor_seconds(process.pid), time.monotonic()
        time.sleep(seconds)
        used = (own_processor_seconds(process.pid) - before) / (time.monotonic() - started) * 100
        memory = Memory(process.pid)
        bench.stop(process)
        bench.figure(f"{name}: resident", [memory.resident], MEBIBYTES, goal=MEBIBYTES.at_most(30) if goals else None)
        bench.figure(f"{name}: resident, shared pages in part (PSS)", [memory.proportional], MEBIBYTES)
        bench.figure(f"{name}: peak since its start", [memory.peak], MEBIBYTES)
        bench.figure(f"{name}: threads", [memory.threads], COUNT)
        bench.figure(
            f"{name}: processor over {seconds} s", [used], PERCENT_OF_A_CORE,
            goal=PERCENT_OF_A_CORE.at_most(0.1) if goals else None)

    rest("one repository", paths[:1], False)
    rest(f"{many} repositories of {refs:,} refs", paths, True)
    peers_at_rest(bench, paths[0], seconds)


def peers_at_rest(bench, path, seconds):
    """Laminar and Buildbot that are told of pushes and watch nothing, and a Buildbot that polls; all in one time."""
    laminar = Laminar(bench, {"test": "true"})
    told = Buildbot(bench, {"test": ["true"]}, executors=1)
    polls = Buildbot(bench, {"test": ["true"]}, executors=1, poll=path)
    for peer in (laminar, told, polls):
        peer.attempt(lambda peer=peer: peer.run("test"))
    time.sleep(20)

    def processor():
        # A poll is a child that has ended by now: the master's clock for children counts in steps of 1/100 s.
        return {
            "laminar": laminar.attempt(lambda: own_processor_seconds(laminar.process.pid)),
            "master": told.attempt(lambda: own_processor_seconds(told.master.pid)),
            "worker": told.attempt(lambda: own_processor_seconds(told.workers[0].pid)),
            "polls": polls.attempt(lambda: processor_seconds(polls.master.pid))}

    before, started = processor(), time.monotonic()
    time.sleep(seconds)
    after, taken = processor(), time.monotonic() - started
    for peer, key, process, name in (
            (laminar, "laminar", lambda: laminar.process, "daemon"), (told, "master", lambda: told.master, "master"),
            (told, "worker", lambda: told.workers[0], "worker"),
            (polls, "polls", lambda: polls.master, "master that polls one repository every second")):
        memory = peer.attempt(lambda process=process: Memory(process().pid))
        peer.figure(f"{name}: resident", [memory.resident] if memory else [], MEBIBYTES)
        used = (after[key] - before[key]) / taken * 100 if not peer.trouble else None
        git = ", git included" if key == "polls" else ""
        peer.figure(f"{name}: processor over {seconds} s{git}", [used], PERCENT_OF_A_CORE)
