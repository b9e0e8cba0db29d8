"""A daemon that has nothing to do: memory and processor, with one repository and with 100 of 2,000 refs each."""

import time

from bench import Memory, own_processor_seconds
from figures import COUNT, MEBIBYTES, PERCENT_OF_A_CORE


def measure(bench):
    many = bench.amount(100, 20)
    refs = 2_000
    seconds = bench.amount(120, 20)
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
        time.sleep(10 + len(watched) * 0.1)
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
