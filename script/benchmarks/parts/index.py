"""An index of 1,000,000 test results over 10,000 runs: history of a test, flaky tests, two runs compared, lists of runs."""

import json
import os
import random
import sqlite3
import time

from bench import Problem
from figures import MEGABYTES, MILLISECONDS

TESTS_OF_A_RUN = 100


def request(repository, workflow, change, head):
    """What a run was asked to do, as pipectl keeps it."""
    kept = {
        "repository": repository, "workflow": workflow, "event": "pullRequest" if change else "push",
        "ref": f"refs/pull/{change}/head" if change else "refs/heads/main", "branch": "main", "head": head,
        "definitionCommit": head, "mergedChanges": [], "parameters": {}, "nonce": "",
        "subject": f"change {change}" if change else "refs/heads/main", "concurrency": {"supersede": {}},
        "runsAtMostOnce": False}
    if change:
        kept["change"] = {
            "name": change, "head": head, "target": "main", "targetCommit": head, "title": "Make it better",
            "author": "ada"}
    return json.dumps(kept)


def fill(path, runs, tests=TESTS_OF_A_RUN):
    """Adds runs as a team makes them, into the tables that pipectl made: several repositories and workflows, changes
    that are pushed again, a failing test in one run of twelve, and a few tests that fail now and then."""
    database = sqlite3.connect(path)
    chosen = random.Random(4)
    columns = {row[1] for row in database.execute("PRAGMA table_info(run)")}
    has_tree = "testedTree" in columns
    repositories = ["app", "server", "tools", "website", "library"]
    workflows = ["test", "lint", "release", "nightly"]
    now = int(time.time() * 1000)
    with database:
        for name in repositories:
            database.execute(
                "INSERT INTO repository (name, location, baselineAt) VALUES (?, ?, ?)", (name, f"/srv/{name}.git", now))
        for number in range(50):
            database.execute("INSERT INTO testFile (path) VALUES (?)", (f"Tests/Unit/Part{number}Tests.swift",))
        # Each repository has tests for four workflows.
        for repository in repositories:
            for number in range(4 * tests):
                database.execute(
                    "INSERT INTO testCase (suite, name) VALUES (?, ?)",
                    (f"{repository.capitalize()}.Part{number // 8}Tests", f"behaviour{number}()"))
        tree = None
        for run in range(1, runs + 1):
            place = chosen.randrange(len(repositories))
            workflow = chosen.randrange(len(workflows))
            # One run of five has the tree of the one before: a rerun, a rebase, a merge of what was tested.
            if tree is None or chosen.random() > 0.2:
                tree = (f"{chosen.getrandbits(160):040x}", place, workflow)
            tree_id, place, workflow = tree
            head = f"{chosen.getrandbits(160):040x}"
            change = str(run // 3) if workflow < 2 else None
            started = now - (runs - run) * 60_000
            results, failed = [], 0
            breaks = chosen.random() < 1 / 12
            for position in range(tests):
                case = 1 + place * 4 * tests + workflow * tests + position
                is_flaky = position % 50 == 7
                fails = breaks and position == chosen.randrange(tests) or is_flaky and chosen.random() < 0.1
                failed += fails
                results.append((
                    run, position, case, 1, "failed" if fails else "passed", chosen.random(), 1 + case % 50,
                    10 + position, "expected 3, found 4" if fails else None))
            verdict = "failed" if failed else "passed"
            values = {
                "id": run, "repository": place + 1, "workflow": workflows[workflow],
                "event": "pullRequest" if change else "push", "ref": f"refs/pull/{change}/head" if change else "refs/heads/main",
                "branch": "main", "head": head, "nonce": "", "subject": f"change {change}" if change else "refs/heads/main",
                "changeName": change, "title": "Make it better" if change else None, "isSerial": 0, "request": request(repositories[place], workflows[workflow], change, head),
                "state": "ended", "attempt": 1, "verdict": verdict, "reason": "", "createdAt": started,
                "startedAt": started, "endedAt": started + 30_000, "testedCommit": head,
                "tests_passed": tests - failed, "tests_failed": failed, "isArchived": 1, "archivedBytes": 1_000}
            if has_tree:
                values["testedTree"] = tree_id
            database.execute(
                f"INSERT INTO run ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", list(values.values()))
            for position in range(3):
                database.execute(
                    "INSERT INTO step (run, position, name, status, duration, attempts) VALUES (?, ?, ?, 'passed', 1, 1)",
                    (run, position, f"step {position}"))
            database.executemany(
                "INSERT INTO test (run, position, testCase, attempt, status, duration, file, line, message)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", results)
    case = database.execute(
        "SELECT testCase.suite, testCase.name FROM test JOIN testCase ON testCase.id = testCase WHERE run = ? AND position = 7",
        (runs,)).fetchone()
    database.close()
    return "/".join(case)


def measure(bench):
    runs = bench.amount(10_000, 1_000)
    cases = "".join(
        f'<testcase classname="Unit.Part{n // 8}Tests" name="behaviour{n}()" time="0.01"/>' for n in range(TESTS_OF_A_RUN))
    path = bench.repository(
        "index",
        bench.workflow_set('Workflow("test") { Step("one", run: "true").testResults(.junit("tests.xml")) }'),
        {"tests.xml": f'<testsuite name="Unit">{cases}</testsuite>'})
    bench.run([bench.pipectl, "runs"], home="index-state")
    file = f"{bench.root}/index-state/index.sqlite"
    test = fill(file, runs)
    bench.figure(f"index of {runs * TESTS_OF_A_RUN:,} results on disk", [os.path.getsize(file) / 1e6], MEGABYTES)
    daemon = bench.daemon("index-state", "--interval", "3600", path)

    def call(*words, codes=(0,)):
        return lambda: bench.call([bench.pipectl, *words], home="index-state", codes=codes)

    shown = json.loads(bench.run([bench.pipectl, "history", test, "--json"], home="index-state").stdout)
    if not shown:
        raise Problem(f"{test} has no history")
    # Two that the archive has, too: a comparison reads their reports.
    for _ in range(2):
        bench.run([bench.pipectl, "run", "test", "--ref", "main"], cwd=path, home="index-state")
    commands = {
        "pipectl --version": call("--version"),
        "history": call("history", test),
        "flaky, over 1,000 runs": call("flaky"),
        "flaky, one repository": call("flaky", "--repository", "server"),
        "compare": call("compare", str(runs + 2), str(runs + 1)),
        "runs": call("runs"),
        "runs, 200": call("runs", "--limit", "200"),
        "runs --repository --workflow": call("runs", "--repository", "tools", "--workflow", "test"),
        "runs --verdict failed --since 3d": call("runs", "--verdict", "failed", "--since", "3d"),
        "runs --change": call("runs", "--change", "77"),
        "runs --commit": call("runs", "--commit", "abc"),
    }
    found = bench.trials(**commands)
    for name, values in found.items():
        bench.figure(
            f"{name}, asked of a daemon" if name != "pipectl --version" else name, values,
            goal=None if name == "pipectl --version" else MILLISECONDS.at_most(50))
    bench.stop(daemon)
    alone = bench.trials(**{"runs": call("runs"), "history": call("history", test)})
    for name, values in alone.items():
        bench.figure(f"{name}, with no daemon", values)
