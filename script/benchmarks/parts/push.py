"""From a push to the first process of a step, with the daemon running."""

import time


def measure(bench):
    path = bench.repository(
        "push",
        bench.workflow_set(
            f'Workflow("test", on: .pullRequest(into: "main")) {{ {bench.starting_step("push-started")} }}'))
    bench.daemon("push-state", "--interval", "3600", path)
    time.sleep(2)
    number = 0

    def once(notify):
        nonlocal number
        number += 1
        taken = bench.push(path, "push-started", number, notify)
        time.sleep(0.7)  # the run before is archived meanwhile
        return taken

    found = bench.trials(event=lambda: once(None), notify=lambda: once("push-state"))
    bench.figure("by file event", found["event"])
    bench.figure("with pipectl notify", found["notify"])
