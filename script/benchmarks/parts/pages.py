"""The pages of a box with 1,000,000 test results and 100,000 runs: each page and answer; a step's byte to a browser."""

import http.client
import json
import sqlite3
import socket
import threading
import time
import urllib.parse

from bench import Memory, Problem
from figures import MEBIBYTES, MILLISECONDS
from parts import index

TESTS_OF_A_RUN = 10


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def changes(path, runs):
    """Rows for the changes that the runs are of, a few hundred of them open; and every fiftieth run is a release."""
    database = sqlite3.connect(path)
    now = int(time.time() * 1000)
    with database:
        database.execute(
            "INSERT OR IGNORE INTO change (repository, name, target, head, state, title, author, landedCommit, updatedAt)"
            " SELECT repository, changeName, 'main', head, CASE WHEN id > ? THEN 'open' ELSE 'landed' END, 'Make it better',"
            " 'ada', CASE WHEN id > ? THEN NULL ELSE head END, ? FROM run WHERE changeName IS NOT NULL ORDER BY id DESC",
            (runs - 1_000, runs - 1_000, now))
        database.execute("UPDATE run SET request = json_set(request, '$.runsAtMostOnce', json('true')) WHERE id % 50 = 0")
    change = database.execute("SELECT changeName FROM run WHERE changeName IS NOT NULL ORDER BY id DESC").fetchone()[0]
    repository, head = database.execute(
        "SELECT repository.name, head FROM run JOIN repository ON repository.id = repository WHERE changeName = ?",
        (change,)).fetchone()
    database.close()
    return repository, change, head


class Site:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path):
        """Seconds until the answer is here as a whole."""
        started = time.perf_counter()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        taken = time.perf_counter() - started
        if answer.status != 200:
            raise Problem(f"{path}: {answer.status} {body[:300]!r}")
        return taken, body


def follow(port, path, lines, stop):
    """Reads a stream of events to its end; for each event the time at which it came, and its text, go to `lines`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    name = b""
    while not stop.is_set():
        line = answer.readline()
        if not line:
            break
        if line.startswith(b"event: "):
            name = line[7:].strip()
        if name == b"over":
            break
        if line.startswith(b"data: ") and name == b"lines" and lines is not None:
            lines.append((time.time(), line))
    connection.close()


def wait_for_step(port, workflow):
    """The log of the running step of the newest run."""
    site = Site(port)
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        for run in json.loads(site.get("/api/v1/runs?limit=5")[1]):
            if run["workflow"] != workflow or run["state"] != "running":
                continue
            live = json.loads(site.get(f"/api/v1/runs/{run['id']}")[1]).get("live")
            if live and live["steps"] and live["steps"][0]["attempt"] > 0:
                return f"/runs/{run['id']}/steps/1/follow"
        time.sleep(0.05)
    raise Problem(f"{workflow} did not start")


def latencies(bench, port, path, home):
    """Milliseconds between what a step prints and its event, as one browser gets it."""
    count = bench.amount(200, 40)
    running = bench.start([bench.pipectl, "run", "clock", "--ref", "main"], cwd=path, home=home)
    found = []
    follow(port, wait_for_step(port, "clock"), found, threading.Event())
    running.wait(timeout=120)
    bench.processes.remove(running)
    taken = []
    for came, line in found:
        for part in json.loads(line[6:])["html"].split("at=")[1:]:
            taken.append(came - float(part.split("<")[0]))
    if len(taken) < count / 2:
        raise Problem(f"only {len(taken)} lines came")
    return taken


def flood(bench, port, path, home, followers, daemon):
    """Seconds of a run that prints a gigabyte, and the most memory of the daemon meanwhile, with `followers` browsers."""
    with open(f"/proc/{daemon.pid}/clear_refs", "w") as file:
        file.write("5")
    started = time.perf_counter()
    running = bench.start([bench.pipectl, "run", "flood", "--ref", "main"], cwd=path, home=home)
    stop, threads = threading.Event(), []
    if followers:
        log = wait_for_step(port, "flood")
        for _ in range(followers):
            thread = threading.Thread(target=follow, args=(port, log, None, stop), daemon=True)
            thread.start()
            threads.append(thread)
    running.wait(timeout=300)
    taken = time.perf_counter() - started
    peak = Memory(daemon.pid).peak
    bench.processes.remove(running)
    stop.set()
    for thread in threads:
        thread.join(timeout=30)
    return taken, peak


def measure(bench):
    runs = bench.amount(100_000, 5_000)
    count = bench.amount(200, 40)
    megabytes = bench.amount(1_000, 300)
    path = bench.repository(
        "pages",
        bench.workflow_set(
            f'Workflow("clock") {{ Step("one", run: "sleep 2; for i in $(seq {count}); do echo at=$(date +%s.%N); sleep 0.05; done") }}',
            f'Workflow("flood") {{ Step("one", run: "for i in $(seq {megabytes // 10}); do yes a line of a log that is as long as many are | head -c 10000000; sleep 0.1; done") }}',
            'Workflow("test") { Step("build", run: "true"); Step("one", run: "echo warning; false") }'))
    home = "pages-state"
    bench.run([bench.pipectl, "runs"], home=home)
    file = f"{bench.root}/{home}/index.sqlite"
    test = index.fill(file, runs, TESTS_OF_A_RUN)
    repository, change, head = changes(file, runs)
    port = free_port()
    daemon = bench.daemon(home, "--interval", "3600", "--listen", str(port), "--pages", path)
    # A run that the archive has.
    bench.run([bench.pipectl, "run", "test", "--ref", "main"], cwd=path, home=home, codes=(0, 1))
    site = Site(port)
    suite, name = test.rsplit("/", 1)
    query = urllib.parse.urlencode({"suite": suite, "name": name})
    newest = json.loads(site.get("/api/v1/runs?limit=1")[1])[0]["id"]
    pages = [
        "/", "/runs", "/runs?verdict=failed", "/runs?repository=tools&workflow=test", "/runs?branch=main",
        f"/runs?change={change}", f"/runs?commit={head[:8]}", "/runs?before=50", "/runs?repository=nobody",
        f"/runs/{newest}", f"/runs/{newest}/steps/2", f"/runs/{newest}/bundle", f"/runs/{runs // 2}",
        f"/repositories/{repository}", f"/repositories/{repository}/changes/{change}", "/tests",
        f"/tests/history?{query}", "/releases", f"/releases?repository={repository}", "/queue", "/machine",
        f"/search?q={head[:8]}", f"/search?q={change}", "/search?q=behaviour1", "/search?q=nothing-like-that",
        "/api/v1/status", "/api/v1/runs", "/api/v1/runs?limit=1000", "/api/v1/runs?state=ended&verdict=failed",
        f"/api/v1/repositories/{repository}/changes", "/api/v1/tests/flaky", "/api/v1/tests/slowest",
        f"/api/v1/tests/history?name={name}", "/api/v1/queue", "/feeds/runs.atom", f"/badges/{repository}/main.svg",
        "/metrics"]
    sizes = {}

    def ask(page):
        def body():
            taken, answer = site.get(page)
            sizes[page] = len(answer)
            return taken
        return body

    found = bench.trials(**{page: ask(page) for page in pages})
    for page, values in found.items():
        shown = page.replace(query, "…").replace(head[:8], "COMMIT").replace(change, "CHANGE")
        bench.figure(f"{shown} ({sizes[page] / 1000:,.0f} kB)", values, goal=MILLISECONDS.at_most(50))

    bench.figure(
        "from a step's byte to a browser", latencies(bench, port, path, home), goal=MILLISECONDS.at_most(30))
    alone, followed, peaks = [], [], ([], [])
    for _ in range(bench.amount(3, 1)):
        taken, peak = flood(bench, port, path, home, 0, daemon)
        alone.append(taken)
        peaks[0].append(peak)
        taken, peak = flood(bench, port, path, home, 100, daemon)
        followed.append(taken)
        peaks[1].append(peak)
    bench.figure(f"a step that prints {megabytes:,} MB, nobody looks", alone)
    bench.figure("the same with 100 browsers", followed, beside=alone, of="nobody")
    bench.figure("memory of the daemon at most, nobody looks", peaks[0], MEBIBYTES)
    bench.figure("the same with 100 browsers", peaks[1], MEBIBYTES, beside=peaks[0], of="nobody")
