"""The same run and the same steps with and without a sandbox; the code is merged, so it may go without."""


def measure(bench):
    steps = bench.amount(200, 50)
    every = f'Workflow("many") {{ for n in 1...{steps} {{ Step("s\\(n)", run: "true && true") }} }}'
    path = bench.repository(
        "sandbox", bench.workflow_set('Workflow("one") { Step("one", run: "true && true") }', every))
    words = [bench.pipectl, "run", "--slots", "2", "--ref", "main"]
    variables = {"without": {"PIPECTL_BWRAP": "/bin/false"}, "with": {}}

    def call(name, workflow):
        bench.extra = variables[name]
        return bench.call([*words, workflow], cwd=path, home=f"sandbox-{name}")

    def each(name):
        return (call(name, "many") - call(name, "one")) / (steps - 1)

    enclosed = [
        "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--ro-bind", "/", "/", "--proc",
        "/proc", "--dev", "/dev", "--", "true"]
    if bench.peer("bwrap"):
        found = bench.trials(true=lambda: bench.call(["true"]), bwrap=lambda: bench.call(enclosed))
        bench.figure("a process: true", found["true"])
        bench.figure("a process in a sandbox of its own: bwrap true", found["bwrap"], beside=found["true"], of="true")
    found = bench.trials(**{name: lambda name=name: call(name, "one") for name in variables})
    bench.figure("one run of one step, no sandbox", found["without"])
    bench.figure("one run of one step, sandbox", found["with"], beside=found["without"], of="no sandbox")
    found = bench.trials(**{name: lambda name=name: each(name) for name in variables})
    bench.figure(f"each of {steps} steps, no sandbox", found["without"])
    bench.figure(f"each of {steps} steps, one sandbox for all", found["with"], beside=found["without"], of="no sandbox")
