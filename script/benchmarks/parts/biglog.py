"""A log of 10 GB through a daemon: how fast, and how much the daemon grows."""

import os
import threading
import time

from bench import Memory, Problem
from figures import MEBIBYTES, MEGABYTES_PER_SECOND

ON_REQUEST = True


def measure(bench):
    size = bench.amount(10_000_000_000, 1_000_000_000)
    begun, done = f"{bench.root}/begun", f"{bench.root}/done"
    line = "compiling a file of some length and linking it with all the others, step by step and one by one"
    names = [f"TOKEN_{number}" for number in range(20)]
    given = ", ".join(f'"{name}"' for name in names)
    path = bench.repository(
        "biglog",
        bench.workflow_set(
            f'Workflow("big") {{ Step("yes", run: "date +%s.%N > {begun}.new && mv {begun}.new {begun}; yes \'{line}\' | head -c {size}; date +%s.%N > {done}.new && mv {done}.new {done}").secrets({given}, as: .environment) }}',
            'Workflow("one") { Step("one", run: "true") }'))
    for number, name in enumerate(names):
        bench.run([bench.pipectl, "secrets", "set", name], home="biglog-state", input=f"{number:02}value-of-a-secret-{number:02}".encode())
    process = bench.daemon("biglog-state", path)
    bench.run([bench.pipectl, "run", "one", "--ref", "main"], cwd=path, home="biglog-state")
    time.sleep(65)  # memory goes back after a minute in which nothing happened
    before = Memory(process.pid)
    most = before.resident
    running = threading.Thread(
        target=lambda: bench.run([bench.pipectl, "run", "big", "--ref", "main"], cwd=path, home="biglog-state"))
    running.start()
    while running.is_alive():
        most = max(most, Memory(process.pid).resident)
        time.sleep(0.05)
    running.join()
    if not os.path.exists(done):
        raise Problem("the step did not end")
    with open(begun) as first, open(done) as last:
        seconds = float(last.read()) - float(first.read())
    time.sleep(65)
    after = Memory(process.pid)
    bench.figure(
        f"{size // 1_000_000:,} MB, 20 secrets, with times", [size / seconds / 1e6], MEGABYTES_PER_SECOND,
        goal=MEGABYTES_PER_SECOND.at_least(500))
    bench.figure("daemon before", [before.resident], MEBIBYTES)
    bench.figure("growth while it came, most seen", [most - before.resident], MEBIBYTES, goal=MEBIBYTES.at_most(32))
    bench.figure("growth afterwards", [after.resident - before.resident], MEBIBYTES)
