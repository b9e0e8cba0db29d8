"""Live pages: a step's byte in a browser, followers of a loud step, 10,000 listeners, memory; beside Laminar and Buildbot."""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

from bench import Memory, Problem
from figures import COUNT, MEBIBYTES, MILLISECONDS, SECONDS, Unit
from peers.buildbot import Buildbot, free_ports
from peers.laminar import Laminar

KILOBYTES = Unit("kB", lambda value: f"{value:.1f} kB")
LOUD = """import sys, time

piece = (b"x" * 99 + b"\\n") * 10_000
begun = time.time()
for number in range({megabytes}):
    sys.stdout.buffer.write(piece)
    time.sleep(max(0, begun + (number + 1) / 100 - time.time()))
"""
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(__file__)), "listeners.py")


class Crowd:
    """A process of listeners.py."""

    def __init__(self, bench, **given):
        self.stop_file = f"{bench.root}/stop-{time.monotonic_ns()}"
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, json.dumps({"stop": self.stop_file, **given})], stdout=subprocess.PIPE)
        bench.processes.append(self.process)
        self.bench = bench
        self.begun = self.line()

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise Problem("the listeners ended")
        return json.loads(text)

    def end(self):
        with open(self.stop_file, "w"):
            pass
        said = self.line()
        self.process.wait(60)
        self.bench.processes.remove(self.process)
        return said


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def measure(bench):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    port, = free_ports(1)
    megabytes = bench.amount(1_000, 300)
    path = bench.repository("live", bench.workflow_set(
        'Workflow("slow") { Step("slow", run: "i=0; while [ $i -lt 60 ]; do date +at:%s.%N; sleep 0.05; i=$((i+1)); done") }',
        'Workflow("loud") { Step("loud", run: "python3 loud.py") }',
        'Workflow("one") { Step("one", run: "true") }'),
        {"loud.py": LOUD.format(megabytes=megabytes)})
    process = bench.daemon("live-state", path, "--listen", str(port))

    def run(workflow):
        bench.run([bench.pipectl, "run", workflow, "--ref", "main"], cwd=path, home="live-state")

    def newest():
        listed = bench.run([bench.pipectl, "runs", "--json"], home="live-state").stdout
        return max((one["id"] for one in json.loads(listed)), default=0)

    run("one")
    bytes_to_browser(bench, port, run, newest)
    followed(bench, port, process, run, newest)
    idle(bench, port, process)
    bench.stop(process)
    peers(bench)


def bytes_to_browser(bench, port, run, newest):
    """From the time that a step prints to the time at which a follower of its log has read it."""
    expected, found = newest() + 1, []
    running = threading.Thread(target=run, args=("slow",))
    running.start()
    url = f"http://localhost:{port}/runs/{expected}/steps/1/follow"
    answer = None

    def opened():
        nonlocal answer
        try:
            answer = urllib.request.urlopen(url, timeout=30)
            return True
        except OSError:
            return False

    bench.wait_until("the log", opened, 30, pause=0.02)
    for line in answer:
        now = time.time()
        for text in re.findall(rb"at:(\d+\.\d+)", line):
            found.append(now - float(text))
        if line.startswith(b"event: over"):
            break
    running.join()
    # What was there before the follower came is left out.
    bench.figure("from a step's byte to the browser", found[5:], goal=MILLISECONDS.at_most(30))


def followed(bench, port, process, run, newest):
    """A step that prints 100 MB/s, with and without 100 followers of its log, in turns."""
    taken, growth, read = {0: [], 100: []}, [], []
    for number in range(bench.count + 1):
        for listeners in taken:
            expected = newest() + 1
            before, most = Memory(process.pid).resident, 0
            begun = time.perf_counter()
            running = threading.Thread(target=run, args=("loud",))
            running.start()
            crowd = None
            if listeners:
                bench.wait_until("the run", lambda: newest() >= expected, 30, pause=0.02)
                time.sleep(0.3)
                crowd = Crowd(bench, port=port, path=f"/runs/{expected}/steps/1/follow", listeners=listeners)
            while running.is_alive():
                most = max(most, Memory(process.pid).resident)
                time.sleep(0.02)
            running.join()
            seconds = time.perf_counter() - begun
            if crowd:
                said = crowd.end()
                if number:
                    growth.append(most - before)
                    read.append(said["bytes"] / 1e6 / 100)
            if number:
                taken[listeners].append(seconds)
    bench.figure("a step of 100 MB/s, nobody follows", taken[0])
    bench.figure("the same, 100 follow", taken[100], beside=taken[0], of="nobody")
    bench.figure("growth of the daemon meanwhile", growth, MEBIBYTES, goal=MEBIBYTES.at_most(64))
    bench.figure("megabytes that each of them read", read, COUNT)


def idle(bench, port, process):
    """10,000 listeners of the overview, and 200 requests a second beside them."""
    many, seconds = bench.amount(10_000, 2_000), bench.amount(20, 8)
    time.sleep(bench.amount(65, 5))  # memory goes back after a minute in which nothing happened
    before = Memory(process.pid).resident
    bench.figure("the daemon with pages, idle", [before], MEBIBYTES, goal=MEBIBYTES.at_most(40))
    alone = ask(bench, port, seconds)
    crowd = Crowd(bench, port=port, path="/live/", listeners=many)
    if crowd.begun["refused"]:
        raise Problem(f"{crowd.begun['refused']} of {many} listeners were refused")
    time.sleep(3)
    each = (Memory(process.pid).resident - before) * 1024 * 1.024 / many
    beside = ask(bench, port, seconds)
    crowd.end()
    bench.figure(f"memory for each of {many:,} listeners", [each], KILOBYTES, goal=KILOBYTES.at_most(20))
    bench.figure("200 requests a second, nobody listens: p99", [percentile(alone, 0.99)])
    bench.figure(
        "200 requests a second beside them: p99", [percentile(beside, 0.99)], goal=MILLISECONDS.at_most(100))
    bench.figure("the same: median", [statistics.median(beside)])


def ask(bench, port, seconds, **given):
    crowd = Crowd(bench, **{"port": port, "rate": 200, "seconds": seconds, "pages": ["/", "/runs", "/queue", "/machine"],
                            **given})
    said = crowd.end()
    good = said["statuses"].get("200", 0)
    if good < len(said["latencies"]) * 0.99:
        raise Problem(f"not all requests were answered: {said['statuses']}")
    return said["latencies"]


def peers(bench):
    """What Laminar and Buildbot do with the same crowds: pages with the same content, and their event streams."""
    many, seconds = bench.amount(10_000, 2_000), bench.amount(20, 8)
    laminar = Laminar(bench, {"test": "true"})
    laminar.attempt(lambda: laminar.run("test", 20))
    crowds(bench, laminar, lambda: laminar.process, many, seconds, {"unix": f"{laminar.home}/http", "path": "/"}, ["/"])
    laminar.stop()
    buildbot = Buildbot(bench, {"test": ["true"]})
    buildbot.attempt(lambda: buildbot.run("test", 20))
    crowds(
        bench, buildbot, lambda: buildbot.master, many, seconds,
        {"port": getattr(buildbot, "http", 0), "path": "/sse/listen/builds/*/*"}, ["/api/v2/builds?limit=50"])
    buildbot.stop()


def crowds(bench, peer, process, many, seconds, where, pages):
    def trial():
        before = Memory(process().pid).resident
        listening = Crowd(bench, **where, listeners=many)
        time.sleep(2)
        each = (Memory(process().pid).resident - before) * 1024 * 1.024 / max(1, listening.begun["alive"])
        asked = {**where, "rate": 200, "seconds": seconds, "pages": pages}
        said = Crowd(bench, **asked).end()
        listening.end()
        return listening.begun["alive"], each, said

    found = peer.attempt(trial)
    if not found:
        peer.figure("listeners", [])
        return
    alive, each, said = found
    peer.figure("listeners that it took", [alive], COUNT)
    peer.figure("memory for each of them", [each], KILOBYTES)
    peer.figure("200 requests a second beside them: p99", [percentile(said["latencies"], 0.99)])
    good = said["statuses"].get("200", 0) / max(1, len(said["latencies"]))
    peer.figure("percent of these that it answered", [good * 100], COUNT)
