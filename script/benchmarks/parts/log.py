"""Lines of a step on their way to the log file, with their times; through daemons, beside Laminar and Buildbot."""

import statistics

from bench import peak
from figures import MEBIBYTES, MEGABYTES_PER_SECOND
from parts._logs import file, rates, through, varied
from peers.buildbot import Buildbot
from peers.laminar import Laminar


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
    amount = f"{size / 1e6:,.0f} MB"
    pipe = rates(size, found["pipe"], none)
    bench.figure(f"{amount}: cat to a file", rates(size, found["cat"], none), MEGABYTES_PER_SECOND)
    bench.figure(f"{amount}: cat through a pipe to a file", pipe, MEGABYTES_PER_SECOND)
    for name, what in (("bounded", "16 + 16 MiB kept"), ("whole", "all kept")):
        bench.figure(
            f"pipectl run, {what}", rates(size, found[name], found["idle"]), MEGABYTES_PER_SECOND, beside=pipe,
            of="cat through a pipe", goal=MEGABYTES_PER_SECOND.at_least(500))
    through_daemons(bench)


def through_daemons(bench):
    """The same path for all: a run that prints the file, less one that prints nothing."""
    log, size = varied(bench, bench.amount(200_000_000, 50_000_000))
    jobs = {"log": f"cat {log}", "one": "true"}
    path = bench.repository("log-daemon", bench.workflow_set(
        *(f'Workflow("{name}") {{ Step("step", run: "{text}") }}' for name, text in jobs.items())))
    laminar = Laminar(bench, jobs)
    buildbot = Buildbot(bench, {name: [text] for name, text in jobs.items()}, executors=1)
    daemons = {}
    for name, limit in {"bounded": [], "whole": ["--log-limit", str(size // 1_000_000 + 64)]}.items():
        daemons[name] = bench.daemon(f"log-{name}", "--interval", "3600", "--no-refresh", *limit, path)

    def ours(name, job):
        return bench.call([bench.pipectl, "run", "--ref", "main", job], cwd=path, home=f"log-{name}")

    def trial(processes, run):
        """Seconds of a run that prints nothing, of one that prints all, and MiB of the processes meanwhile."""
        return run("one"), *peak([process.pid for process in processes], lambda: run("log"))

    found = bench.trials(
        bounded=lambda: trial([daemons["bounded"]], lambda job: ours("bounded", job)),
        whole=lambda: trial([daemons["whole"]], lambda job: ours("whole", job)),
        **laminar.trial("laminar", lambda: trial(laminar.processes, laminar.run)))
    buildbot.attempt(lambda: buildbot.run("one"))
    # A minute for each: once.
    found["buildbot"] = [buildbot.attempt(lambda: trial(buildbot.processes, buildbot.run))]

    def split(name):
        """MB/s of each trial, and the most that the daemon had."""
        taken = [value for value in found.get(name, []) if value]
        if not taken:
            return [], []
        idle = statistics.median(one for one, _, _ in taken)
        return rates(size, [seconds for _, seconds, _ in taken], [idle] * len(taken)), [most for _, _, most in taken]

    amount = f"{size / 1e6:,.0f} MB"
    kept = {
        "bounded": f"{amount} through a daemon, sandboxed, with times, 16 + 16 MiB kept",
        "whole": f"{amount} through a daemon, sandboxed, with times, all kept"}
    for name, title in kept.items():
        speeds, sizes = split(name)
        bench.figure(title, speeds, MEGABYTES_PER_SECOND)
        bench.figure("the daemon meanwhile, at most", sizes, MEBIBYTES)
    for peer, key, what in ((laminar, "laminar", "the daemon"), (buildbot, "buildbot", "master and worker")):
        speeds, sizes = split(key)
        peer.figure(f"{amount}, no sandbox, no times, all kept", speeds, MEGABYTES_PER_SECOND)
        peer.figure(f"{what} meanwhile, at most", sizes, MEBIBYTES)
        for name, title in kept.items():
            peer.compare(title, split(name)[0], speeds, unit=MEGABYTES_PER_SECOND)
