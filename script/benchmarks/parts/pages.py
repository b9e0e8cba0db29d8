"""The pages of a box with 1,000,000 test results and 100,000 runs: each page, and each answer of the API."""

import http.client
import json
import sqlite3
import time
import urllib.parse

from bench import Problem
from figures import MILLISECONDS
from parts import index
from peers.buildbot import free_ports

TESTS_OF_A_RUN = 10
# A result file as a large project has it: one test of 2,000 fails.
MANY = """with open("results.xml", "w") as file:
    file.write('<testsuite name="all">')
    for number in range({tests}):
        body = '<failure message="expected 3, found 4"/>' if number % 2_000 == 7 else ""
        file.write(f'<testcase classname="App.Part{{number // 20}}Tests" name="behaviour{{number}}()" time="0.012" '
                   f'file="Tests/Part{{number // 20}}Tests.swift" line="{{number % 400 + 1}}">{{body}}</testcase>')
    file.write("</testsuite>")
"""


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


def measure(bench):
    runs = bench.amount(100_000, 5_000)
    path = bench.repository(
        "pages",
        bench.workflow_set(
            'Workflow("test") { Step("build", run: "true"); Step("one", run: "echo warning; false") }',
            'Workflow("many") { Step("many", run: "python3 many.py").testResults(.junit("results.xml")) }'),
        {"many.py": MANY.format(tests=bench.amount(20_000, 2_000))})
    home = "pages-state"
    bench.run([bench.pipectl, "runs"], home=home)
    file = f"{bench.root}/{home}/index.sqlite"
    test = index.fill(file, runs, TESTS_OF_A_RUN)
    repository, change, head = changes(file, runs)
    port, = free_ports(1)
    bench.daemon(home, "--interval", "3600", "--listen", str(port), "--pages", path)
    # A run that the archive has.
    bench.run([bench.pipectl, "run", "test", "--ref", "main"], cwd=path, home=home, codes=(0, 1))
    bench.run([bench.pipectl, "run", "many", "--ref", "main"], cwd=path, home=home, codes=(0, 1))
    site = Site(port)
    suite, name = test.rsplit("/", 1)
    query = urllib.parse.urlencode({"suite": suite, "name": name})
    many, newest = [one["id"] for one in json.loads(site.get("/api/v1/runs?limit=2")[1])]
    pages = [
        "/", "/runs", "/runs?verdict=failed", "/runs?repository=tools&workflow=test", "/runs?branch=main",
        f"/runs?change={change}", f"/runs?commit={head[:8]}", "/runs?before=50",
        f"/runs/{newest}", f"/runs/{newest}/steps/2", f"/runs/{newest}/bundle", f"/runs/{runs // 2}", f"/runs/{many}",
        f"/runs/{many}/bundle",
        f"/repositories/{repository}", f"/repositories/{repository}/changes/{change}", "/tests",
        f"/tests/history?{query}", "/releases", f"/releases?repository={repository}", "/queue", "/machine",
        f"/search?q={head[:8]}", f"/search?q={change}", "/search?q=behaviour1", "/search?q=nothing-like-that",
        "/api/v1/status", "/api/v1/runs", "/api/v1/runs?limit=1000", "/api/v1/runs?state=ended&verdict=failed",
        f"/api/v1/repositories/{repository}/changes", "/api/v1/tests/flaky", "/api/v1/tests/slowest",
        f"/api/v1/tests/history?{query}", "/api/v1/queue", "/feeds/runs.atom", f"/badges/{repository}/main.svg",
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
