"""From a push and from its hook's first line to the first process of a step, sandboxed, beside Laminar where it is."""

import os
import shutil
import time

from figures import MILLISECONDS


def measure(bench):
    mark, hook_mark = f"{bench.root}/hook-started", f"{bench.root}/hook-began"
    path = bench.repository(
        "hook",
        bench.workflow_set(
            f'Workflow("test", on: .pullRequest(into: "main")) {{ Step("one", run: "date +%s.%N > {mark}.new$PIPECTL_RUN && mv {mark}.new$PIPECTL_RUN {mark}.$PIPECTL_RUN") }}'))
    bare = f"{bench.root}/hook.git"
    bench.git("clone", "--quiet", "--bare", path, bare, cwd=bench.root)
    bench.git("remote", "add", "origin", bare, cwd=path)
    hook = f"{bare}/hooks/post-receive"
    with open(hook, "w") as file:
        file.write(f"#!/bin/sh\ndate +%s.%N > {hook_mark}\n")
    os.chmod(hook, 0o755)
    tip = bench.git("rev-parse", "HEAD", cwd=path)
    number = 0

    def push(wait):
        nonlocal number
        number += 1
        # Each another tree: a step that has passed on the same files is not run again.
        with open(f"{path}/number", "w") as file:
            file.write(f"{number}\n")
        bench.git("add", "number", cwd=path)
        commit = bench.git(
            "commit-tree", bench.git("write-tree", cwd=path), "-p", tip, "-m", f"Push {number}", cwd=path)
        started = time.time()
        bench.git("push", "--quiet", "origin", f"{commit}:refs/pull/{number}/head", cwd=path)
        pushed = time.time()
        if not wait:
            return pushed - started
        with open(hook_mark) as file:
            began = float(file.read())
        first = float(bench.wait_for(f"{mark}.{wait()}"))
        time.sleep(0.6)  # the run before is archived meanwhile, and the next one's sandbox made
        return first - started, first - began

    bare_push = bench.trials(push=lambda: push(None))["push"]
    daemon = bench.daemon("hook-state", "--interval", "3600", "--no-refresh", bare)
    time.sleep(2)
    runs = 0

    def next_run():
        nonlocal runs
        runs += 1
        return runs

    push(next_run)
    taken = bench.trials(push=lambda: push(next_run))["push"]
    bench.figure("a push whose hook notes the time", bare_push)
    bench.figure(
        "push to first step", [whole for whole, _ in taken], beside=bare_push, of="the push",
        goal=MILLISECONDS.at_most(25))
    bench.figure(
        "hook's first line to first step", [rest for _, rest in taken], goal=MILLISECONDS.at_most(10))
    bench.stop(daemon)
    shutil.rmtree(bare, ignore_errors=True)
