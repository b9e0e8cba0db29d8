"""From a push to the first process of a step, with the daemon running."""

import os
import time


def measure(bench):
    mark = f"{bench.root}/started"
    path = bench.repository(
        "push",
        bench.workflow_set(
            f'Workflow("test", on: .pullRequest(into: "main")) {{ Step("one", run: "date +%s.%N > {mark}.new && mv {mark}.new {mark}") }}'))
    tip = bench.git("rev-parse", "HEAD", cwd=path)
    tree = bench.git("rev-parse", "HEAD^{tree}", cwd=path)
    bench.daemon("push-state", "--interval", "3600", path)
    time.sleep(2)
    number = 0

    def once(with_notify):
        nonlocal number
        number += 1
        commit = bench.git("commit-tree", tree, "-p", tip, "-m", f"Push {number}", cwd=path)
        if os.path.exists(mark):
            os.unlink(mark)
        started = time.time()
        bench.git("update-ref", f"refs/pull/{number}/head", commit, cwd=path)
        if with_notify:
            bench.run([bench.pipectl, "notify"], home="push-state")
        taken = float(bench.wait_for(mark)) - started
        time.sleep(0.7)  # the run before is archived meanwhile
        return taken

    found = bench.trials(event=lambda: once(False), notify=lambda: once(True))
    bench.figure("by file event", found["event"])
    bench.figure("with pipectl notify", found["notify"])
