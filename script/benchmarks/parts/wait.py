"""From the end of a failing test to the end of `pipectl wait`, with other steps going on and without."""

import subprocess
import time

from figures import MILLISECONDS

RESULTS = ('<testsuite name=\\"S\\"><testcase classname=\\"Calc\\" name=\\"adds\\" file=\\"Tests/Calc.swift\\" line=\\"12\\">'
           '<failure message=\\"expected 5, got 4\\">Tests/Calc.swift:12</failure></testcase></testsuite>')


def failing(bench, name, results=f"echo '{RESULTS}' > out.xml", log="true"):
    """A step whose test ends at a time that it tells; runs of other commits pass."""
    return (f'Step("check", run: "if [ -e number ]; then sleep 0.3; {log}; {results}; '
            f'date +%s.%N > {bench.root}/{name}-$(cat number); exit 1; fi").testResults(.junit("out.xml"))')


def many(count, failures):
    """A result file with so many tests, of which the first ones fail."""
    cases = []
    for number in range(count):
        failure = "<failure message='expected 5, got 4'>Tests/Calc.swift:12</failure>" if number < failures else ""
        name = "adds" if number == 0 else f"case{number}"
        cases.append(f"<testcase classname='Calc' name='{name}' file='Tests/Calc.swift' line='12'>{failure}</testcase>")
    return f"<testsuite name='S'>{''.join(cases)}</testsuite>"


def measure(bench):
    slow = 'Step("slow", run: "sleep 1")'
    # Fails a little later than the first, and what it says is not waited for.
    second = 'Step("second", run: "[ ! -e number ] || { sleep 0.5; exit 1; }")'
    lines = "yes 'a line of the log of a test that has much to tell' | head -n 200000"
    kinds = {
        "alone": ("the only step: to the verdict", [failing(bench, "alone")], {}),
        "beside": ("while a step goes on", [failing(bench, "beside"), slow], {}),
        "several": ("several steps fail, one goes on", [failing(bench, "several"), second, slow], {}),
        "long": ("a log of 10 MiB, a step goes on", [failing(bench, "long", log=lines), slow], {}),
        "many": ("50 of 5,000 tests fail, a step goes on", [failing(bench, "many", "cp all.xml out.xml"), slow],
                 {"all.xml": many(5_000, 50)}),
    }
    paths = {
        name: bench.repository(name, bench.workflow_set(
            'Workflow("test", on: .pullRequest(into: "main")) { ' + "; ".join(steps) + " }"), files)
        for name, (_, steps, files) in kinds.items()}
    bench.daemon("state", "--no-refresh", "--no-proofs", *paths.values())
    numbers = iter(range(1, 1_000_000))
    found = bench.trials(**{
        name: lambda name=name, path=path: latency(bench, path, name, next(numbers)) for name, path in paths.items()})
    for name, (title, _, _) in kinds.items():
        bench.figure(title, found[name], goal=MILLISECONDS.at_most(100))


def latency(bench, path, name, number):
    blob = bench.git("hash-object", "-w", "--stdin", cwd=path, input=f"{number}\n")
    entries = bench.git("ls-tree", "main", cwd=path)
    tree = bench.git("mktree", cwd=path, input=f"{entries}\n100644 blob {blob}\tnumber\n")
    commit = bench.git("commit-tree", tree, "-p", "main", "-m", f"Push {number}", cwd=path)
    # Nobody has seen the commit when the wait begins.
    waiting = subprocess.Popen(
        [bench.pipectl, "wait", commit], cwd=path, env=bench.environment("state"), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    bench.git("update-ref", f"refs/pull/{number}/head", commit, cwd=path)
    output, _ = waiting.communicate(timeout=60)
    ended = time.time()
    if waiting.returncode != 1 or b"Calc/adds" not in output:
        raise AssertionError(f"wait ended with {waiting.returncode}: {output.decode()[-500:]}")
    return ended - float(bench.wait_for(f"{bench.root}/{name}-{number}"))
