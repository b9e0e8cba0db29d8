"""One run with its state on disk, where each promise is written through, and in memory, where that is free."""

import shutil
import tempfile


def measure(bench):
    path = bench.repository("durability", bench.workflow_set('Workflow("one") { Step("one", run: "true && true") }'))
    words = [bench.pipectl, "run", "one", "--ref", "main"]
    memory = tempfile.mkdtemp(prefix="pipectl-bench.", dir="/dev/shm")
    try:
        found = bench.trials(
            free=lambda: bench.call(words, cwd=path, home=memory),
            disk=lambda: bench.call(words, cwd=path, home="durable"))
    finally:
        shutil.rmtree(memory, ignore_errors=True)
    bench.figure("one run, state in memory", found["free"])
    bench.figure("one run, state on disk", found["disk"], beside=found["free"], of="in memory")
