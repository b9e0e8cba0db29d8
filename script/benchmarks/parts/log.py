"""Lines of a step on their way to the log file, with their times beside them."""

from figures import MEGABYTES_PER_SECOND
from parts._logs import file, rates, through


def measure(bench):
    log, size = file(bench, bench.amount(1_000_000_000, 200_000_000))
    path = bench.repository(
        "log",
        bench.workflow_set(
            f'Workflow("log") {{ Step("cat", run: "cat {log}") }}', 'Workflow("one") { Step("one", run: "true") }'))
    words = [bench.pipectl, "run", "--ref", "main"]
    found = bench.trials(
        idle=lambda: bench.call([*words, "one"], cwd=path),
        cat=lambda: bench.call(["sh", "-c", f"cat {log} > {bench.root}/copy.txt"]),
        pipe=lambda: through(bench, "cat", log),
        bounded=lambda: bench.call([*words, "log"], cwd=path),
        whole=lambda: bench.call([*words, "--log-limit", str(size // 1_000_000 + 64), "log"], cwd=path))
    none = [0.0] * bench.count
    amount = f"{size // 1_000_000:,} MB"
    pipe = rates(size, found["pipe"], none)
    bench.figure(f"{amount}: cat to a file", rates(size, found["cat"], none), MEGABYTES_PER_SECOND)
    bench.figure(f"{amount}: cat through a pipe to a file", pipe, MEGABYTES_PER_SECOND)
    for name, what in (("bounded", "16 + 16 MiB kept"), ("whole", "all kept")):
        bench.figure(
            f"pipectl run, {what}", rates(size, found[name], found["idle"]), MEGABYTES_PER_SECOND, beside=pipe,
            of="cat through a pipe", goal=MEGABYTES_PER_SECOND.at_least(500))
