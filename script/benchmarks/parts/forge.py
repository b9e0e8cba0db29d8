"""At a forge: verdict to request, push to "in progress" by a webhook, bursts of webhooks, and runs beside them."""

import datetime
import json
import socket
import statistics
import time

from bench import Memory, Problem, peak
from figures import COUNT, MEBIBYTES, MILLISECONDS, PER_SECOND, Unit
from forge import Forge

RATIO = Unit("", lambda value: f"{value:.2f}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Place:
    """A daemon that watches a repository, which is connected with the forge."""

    def __init__(self, bench, forge, name, is_remote):
        # Both are the same project to the forge.
        self.bench, self.forge, self.name, self.number = bench, forge, name, 2_000 if is_remote else 0
        workflow = bench.workflow_set(
            'Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "test ! -e bad").neverProved() }')
        self.path = bench.repository(name, workflow)
        self.tip = bench.git("rev-parse", "HEAD", cwd=self.path)
        self.home = f"{name}-state"
        # A repository that the daemon must fetch from is looked at when a webhook says so.
        watched = f"file://{self.path}" if is_remote else self.path
        self.process = bench.daemon(
            self.home, "--listen", f"127.0.0.1:{free_port()}", "--interval", "3600", "--no-refresh", watched)
        time.sleep(2)
        self.hook = forge.connect(self.home, name)
        time.sleep(2)

    def commit(self, is_bad=False):
        """The next change: its number and its head."""
        self.number += 1
        blob = self.bench.git("hash-object", "-w", "--stdin", cwd=self.path, input=f"{self.number}\n")
        entries = self.bench.git("ls-tree", self.tip, cwd=self.path)
        names = ["number", *(["bad"] if is_bad else [])]
        lines = "".join(f"100644 blob {blob}\t{name}\n" for name in names)
        tree = self.bench.git("mktree", cwd=self.path, input=f"{entries}\n{lines}")
        head = self.bench.git(
            "commit-tree", tree, "-p", self.tip, "-m", f"Push {self.number}", cwd=self.path)
        self.forge.open(self.number, head)
        return self.number, head

    def push(self, is_bad=False, tells=True):
        """Pushes the next change, and tells the daemon as the forge does; the head, and the moment before."""
        number, head = self.commit(is_bad)
        started = time.time()
        self.bench.git("update-ref", f"refs/pull/{number}/head", head, cwd=self.path)
        if tells:
            self.forge.deliver(self.hook, {
                "action": "opened", "number": number, "sender": {"login": "ada", "id": 1},
                "pull_request": {"number": number, "head": {"sha": head}}})
        return head, started

    def ended(self, head):
        """When the verdict was, in seconds since 1970."""
        runs = json.loads(self.bench.run(
            [self.bench.pipectl, "runs", "--json", "--limit", "5"], home=self.home).stdout)
        number = next(run["id"] for run in runs if run["head"] == head)
        # A list of runs has whole seconds, a report has milliseconds.
        report = self.bench.run(
            [self.bench.pipectl, "report", str(number), "--format", "json"], home=self.home).stdout
        moment = json.loads(report)["endedAt"].replace("Z", "+00:00")
        return datetime.datetime.fromisoformat(moment).timestamp()

    def settle(self):
        # The run before is archived meanwhile, and the next one's sandbox made.
        time.sleep(0.6)

    def begun(self):
        """Seconds from a push to the request that shows its run in progress."""
        head, started = self.push()
        shown = self.forge.shown(head, "in_progress")
        self.forge.shown(head, "completed")
        self.settle()
        return shown - started

    def told(self, is_bad):
        """Seconds from a verdict to the request that shows it."""
        head, _ = self.push(is_bad)
        shown = self.forge.shown(head, "completed")
        ended = self.ended(head)
        self.settle()
        return shown - ended

    def whole(self):
        """Seconds from a push to the end of its run, both on this machine's clock."""
        head, started = self.push()
        self.forge.shown(head, "completed", 120)
        ended = self.ended(head)
        self.settle()
        return ended - started


def measure(bench):
    forge = Forge(bench)
    local, remote = Place(bench, forge, "local", False), Place(bench, forge, "remote", True)
    for place in (local, remote):
        place.whole()  # compiles the workflows
    found = bench.trials(
        passed=lambda: local.told(False), failed=lambda: local.told(True),
        local=local.begun, remote=remote.begun)
    goal = MILLISECONDS.at_most(50)
    bench.figure("verdict to request, passed", found["passed"], goal=goal)
    bench.figure("verdict to request, failed, with its comment to write", found["failed"], goal=goal)
    goal = MILLISECONDS.at_most(150)
    bench.figure("push to the request \"in progress\", repository on this machine", found["local"], goal=goal)
    bench.figure("push to the request \"in progress\", with webhook and fetch", found["remote"], goal=goal)
    bursts(bench, forge, local)


def bursts(bench, forge, place):
    count, sent = bench.amount(10_000, 1_000), 0

    def burst(size, during=lambda: None):
        nonlocal sent
        process = forge.begin_burst(place.hook, size, sent, "burst")
        sent += size
        value = during()
        return value, forge.end_burst(process, "burst")

    before = Memory(place.process.pid).resident
    (_, found), most = peak([place.process.pid], lambda: burst(count))
    wrong = [status for _, status in found["times"] if status not in (202, 503)]
    if wrong:
        raise Problem(f"{len(wrong)} deliveries were answered with {sorted(set(wrong))}")
    times = sorted(seconds for seconds, _ in found["times"])
    name = f"{count:,} webhooks of 8 kB over 8 connections"
    bench.figure(f"{name}: answer, p50", [times[len(times) // 2]])
    bench.figure(f"{name}: answer, p99", [times[len(times) * 99 // 100]], goal=MILLISECONDS.at_most(100))
    bench.figure(f"{name}: answer, longest", [times[-1]])
    bench.figure(f"{name}: answers", [len(times) / found["seconds"]], PER_SECOND)
    bench.figure(f"{name}: memory at its peak above that before", [most - before], MEBIBYTES)
    bench.figure(f"{name}: not answered with 202", [sum(status != 202 for _, status in found["times"])], COUNT)

    # A burst that lasts as long as the run, at the rate that was measured.
    size = max(200, int(len(times) / found["seconds"] * 3))
    pairs = bench.trials(
        count=max(bench.count, 7), alone=place.whole, beside=lambda: burst(size, place.whole)[0])
    bench.figure("push to the end of the run, nothing beside it", pairs["alone"])
    bench.figure("push to the end of the run, beside a burst", pairs["beside"], beside=pairs["alone"], of="nothing")
    ratios = [beside / alone for beside, alone in zip(pairs["beside"], pairs["alone"])]
    bench.figure("the same, ratio of each pair", [statistics.median(ratios)], RATIO)
