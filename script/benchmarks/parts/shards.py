"""5,000 tests of known durations divided among four parts of a step: the longest part beside the ideal."""

import datetime
import json
import random

from figures import SECONDS

# A part sleeps as long as its tests take, and reports each with its time.
PART = r'''awk -v out="results-$PIPECTL_SHARD.xml" '
    BEGIN { print "<testsuite name=\"all\">" >out }
    NR == FNR { seconds[$1] = $2; next }
    { split($1, name, "/"); sum += seconds[$1]
      printf "<testcase classname=\"%s\" name=\"%s\" time=\"%s\"/>\n", name[1], name[2], seconds[$1] >out }
    END { print "</testsuite>" >out; print sum }' durations.txt "$PIPECTL_TESTS_FILE" >"sum-$PIPECTL_SHARD"
sleep "$(cat "sum-$PIPECTL_SHARD")"
'''
PARTS, TESTS = 4, 5_000


def durations(total):
    """Seconds by test: most are short and some are long, a suite's tests are alike, and each fourth one is slow, so that
    parts with the same number of tests differ."""
    chance = random.Random(29)
    suites = [chance.lognormvariate(0, 1) for _ in range(TESTS // 50)]
    tests = {f"Suite{number // 50:02}/test{number:04}": suites[number // 50] * chance.lognormvariate(0, 1)
             * (1 if number % PARTS else 5) for number in range(TESTS)}
    factor = total / sum(tests.values())
    return {name: round(value * factor, 6) for name, value in sorted(tests.items())}


def measure(bench):
    total = bench.amount(60, 20)
    tests = durations(total)
    ideal = sum(tests.values()) / PARTS
    path = bench.repository("shards", bench.workflow_set(
        'Workflow("tests") { let list = Step("list", run: "cut -d \' \' -f 1 durations.txt >tests.txt"); list; '
        'Step("part", needs: list, run: "sh part.sh").testResults(.junit("results-$PIPECTL_SHARD.xml"))'
        f'.shards({PARTS}, of: "tests.txt") }}'),
        {"durations.txt": "".join(f"{name} {seconds}\n" for name, seconds in tests.items()), "part.sh": PART})
    names = ("without history", "after one run of history")
    found = {name: one_run(bench, path) for name in names}
    for name in names:
        tested, sums, longest = found[name]
        if tested != TESTS:
            raise AssertionError(f"{tested} of {TESTS} tests were run")
        goal = SECONDS.at_most(1.15 * ideal) if name != names[0] else None
        bench.figure(f"{name}: tests of the longest part", [max(sums)], beside=[ideal], of="ideal", goal=goal)
        bench.figure(f"{name}: the longest part with its process", [longest], beside=[ideal], of="ideal", goal=goal)


def one_run(bench, path):
    """The number of tests, the seconds of each part's tests, and the seconds of the longest part."""
    bench.run([bench.pipectl, "run", "tests", "--ref", "main", "--slots", str(PARTS)], cwd=path)
    [run] = json.loads(bench.run([bench.pipectl, "runs", "--json", "--limit", "1"], cwd=path).stdout)
    words = [bench.pipectl, "report", str(run["id"]), "--format", "json"]
    report = json.loads(bench.run(words, cwd=path).stdout)
    parts = [step for step in report["steps"] if step["name"].startswith("part ")]
    tests = report["tests"]
    sums = []
    for part in parts:
        first, count = part["tests"]["first"], part["tests"]["count"]
        sums.append(sum(test["duration"] for test in tests[first:first + count]))
    return len(tests), sums, max(elapsed(attempt) for part in parts for attempt in part["attempts"])


def elapsed(attempt):
    begun, ended = (datetime.datetime.fromisoformat(attempt[key].replace("Z", "+00:00")) for key in ("startedAt", "endedAt"))
    return (ended - begun).total_seconds()
