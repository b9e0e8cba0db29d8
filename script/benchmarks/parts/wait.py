"""From the end of a failing test to the end of `pipectl wait`, with other steps going on and without."""

import subprocess
import time

from figures import MILLISECONDS

RESULTS = ('<testsuite name=\\"S\\"><testcase classname=\\"Calc\\" name=\\"adds\\" file=\\"Tests/Calc.swift\\" line=\\"12\\">'
           '<failure message=\\"expected 5, got 4\\">Tests/Calc.swift:12</failure></testcase></testsuite>')


def failing(bench, name):
    """A step whose test ends at a time that it tells; runs of other commits pass."""
    return (f'Step("check", run: "if [ -e number ]; then sleep 0.3; echo \'{RESULTS}\' > out.xml; '
            f'date +%s.%N > {bench.root}/{name}-$(cat number); exit 1; fi").testResults(.junit("out.xml"))')


def measure(bench):
    alone = bench.repository("alone", bench.workflow_set(
        f'Workflow("test", on: .pullRequest(into: "main")) {{ {failing(bench, "alone")} }}'))
    beside = bench.repository("beside", bench.workflow_set(
        f'Workflow("test", on: .pullRequest(into: "main")) {{ {failing(bench, "beside")}; '
        'Step("slow", run: "sleep 1") }'))
    bench.daemon("state", "--no-refresh", "--no-proofs", alone, beside)
    numbers = iter(range(1, 1_000_000))
    found = bench.trials(
        alone=lambda: latency(bench, alone, "alone", next(numbers)),
        beside=lambda: latency(bench, beside, "beside", next(numbers)))
    bench.figure("the only step: to the verdict", found["alone"], goal=MILLISECONDS.at_most(100))
    bench.figure("while a step goes on", found["beside"], goal=MILLISECONDS.at_most(100))


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
