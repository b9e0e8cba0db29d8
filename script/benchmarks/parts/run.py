"""One run of one step, as a whole process."""


def measure(bench):
    path = bench.repository(
        "run", bench.workflow_set('Workflow("one") { Step("one", run: "true && true") }'),
        {"Makefile": "one:\n\t@true && true\n"})
    found = bench.trials(
        make=lambda: bench.call(["make"], cwd=path),
        ours=lambda: bench.call([bench.pipectl, "run", "one", "--ref", "main"], cwd=path))
    bench.figure("make", found["make"])
    bench.figure("pipectl run", found["ours"], beside=found["make"], of="make")
