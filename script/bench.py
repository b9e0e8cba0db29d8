"""Takes the times for script/bench: medians of whole processes, with the least and the most."""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PIPECTL = os.path.realpath(sys.argv[1])
WANTED = sys.argv[2:]
COUNT = max(int(os.environ.get("BENCH_COUNT", "5")), 5)
ROOT = tempfile.mkdtemp(prefix="pipectl-bench.")
STEPS = 200
LOG_BYTES = 200_000_000
REFS = 100_000
# Steps may be another user, and some of them say here that they have started.
os.chmod(ROOT, 0o1777)

rows = []
daemons = []
extra = {}  # variables of every command, for as long as a part wants them


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def environment(home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PIPECTL_")}
    kept["PIPECTL_HOME"] = os.path.join(ROOT, home)
    return {**kept, **extra}


def sharing(words):
    """The command, with this bench's own folder shown to the steps that it runs."""
    runs = words[0] == PIPECTL and words[1] in ("run", "watch")
    return [*words[:2], "--shared", ROOT, *words[2:]] if runs else words


def call(words, cwd=ROOT, home="state", codes=(0,)):
    """Runs a command to its end and returns the seconds that it took."""
    words = sharing(words)
    started = time.perf_counter()
    done = subprocess.run(
        words, cwd=cwd, env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    took = time.perf_counter() - started
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return took


def times(words, before=None, **more):
    taken = []
    for number in range(COUNT + 1):
        if before:
            before()
        taken.append(call(words, **more))
    return taken[1:]  # the first one warms the disk's cache


def show(seconds):
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def row(name, values, beside="", reference=None, unit=show):
    middle = statistics.median(values)
    ratio = f"{middle / reference:.2f} ×" if reference else ""
    rows.append((name, unit(middle), f"{unit(min(values))} – {unit(max(values))}", beside, ratio))
    return middle


def git(*words, cwd):
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *words], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def repository(name, workflows):
    path = f"{ROOT}/{name}"
    os.makedirs(f"{path}/workflows")
    with open(f"{path}/workflows/Workflows.swift", "w") as file:
        file.write(workflows)
    git("init", "--quiet", "-b", "main", cwd=path)
    git("add", "--all", cwd=path)
    git("commit", "--quiet", "-m", "Workflows", cwd=path)
    return path


def workflow_set(*workflows):
    names = ", ".join(f"w{index}" for index in range(len(workflows)))
    text = "import Pipeline\n"
    for index, workflow in enumerate(workflows):
        text += f"let w{index} = {workflow}\n"
    return text + f"@main struct Workflows: WorkflowSet {{ static let workflows = [{names}] }}\n"


def daemon(home, *words, cwd=ROOT):
    """Starts a daemon and returns it once it answers."""
    process = subprocess.Popen(
        sharing([PIPECTL, "watch", *words]), cwd=cwd, env=environment(home), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    daemons.append(process)
    for _ in range(400):
        asked = subprocess.run(
            [PIPECTL, "status"], env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if asked.returncode == 0:
            return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit("the daemon did not start")


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)
    daemons.remove(process)


def load():
    path = repository("load", workflow_set('Workflow("test") { Step("one", run: "true") }'))
    start = row("start: pipectl --version", times([PIPECTL, "--version"]))

    def forget():
        shutil.rmtree(f"{ROOT}/state/programs", ignore_errors=True)

    # The toolchain's version is asked for again too, as on the first run ever.
    row("workflow load, cold: plan after a compile", times([PIPECTL, "plan", "test"], before=forget, cwd=path))
    row(
        "workflow load, warm: plan from the cache", times([PIPECTL, "plan", "test"], cwd=path),
        "pipectl --version", start)


def push():
    mark = f"{ROOT}/started"
    path = repository(
        "push",
        workflow_set(f'Workflow("test", on: .pullRequest(into: "main")) {{ Step("one", run: "date +%s.%N > {mark}.new && mv {mark}.new {mark}") }}'))
    tip = git("rev-parse", "HEAD", cwd=path)
    process = daemon("push-state", "--interval", "3600", path)
    time.sleep(2)
    number = 0

    def once(with_notify):
        nonlocal number
        number += 1
        tree = git("rev-parse", "HEAD^{tree}", cwd=path)
        commit = git("commit-tree", tree, "-p", tip, "-m", f"Push {number}", cwd=path)
        if os.path.exists(mark):
            os.unlink(mark)
        started = time.time()
        git("update-ref", f"refs/pull/{number}/head", commit, cwd=path)
        if with_notify:
            call([PIPECTL, "notify"], home="push-state")
        for _ in range(6000):
            if os.path.exists(mark):
                break
            time.sleep(0.005)
        else:
            raise SystemExit("the push started nothing")
        with open(mark) as file:
            taken = float(file.read()) - started
        time.sleep(0.7)  # the run before is archived meanwhile
        return taken

    once(False)
    row("push to first step, by file event", [once(False) for _ in range(COUNT)])
    row("push to first step, with pipectl notify", [once(True) for _ in range(COUNT)])
    stop(process)


def run():
    path = repository("run", workflow_set('Workflow("one") { Step("one", run: "true && true") }'))
    with open(f"{path}/Makefile", "w") as file:
        file.write("one:\n\t@true && true\n")
    call([PIPECTL, "run", "one", "--ref", "main"], cwd=path)
    make = row("one step: make", times(["make"], cwd=path))
    return row(
        "one run of one step: pipectl run", times([PIPECTL, "run", "one", "--ref", "main"], cwd=path), "make", make)


def steps():
    every = f'Workflow("many") {{ for n in 1...{STEPS} {{ Step("s\\(n)", run: "true && true") }} }}'
    path = repository("steps", workflow_set('Workflow("one") { Step("one", run: "true && true") }', every))
    names = [f"s{n}" for n in range(1, STEPS + 1)]
    with open(f"{path}/Makefile", "w") as file:
        file.write(f".PHONY: all one {' '.join(names)}\nall: {' '.join(names)}\n")
        file.write("".join(f"{name}:\n\t@true && true\n" for name in ["one", *names]))
    with open(f"{path}/build.ninja", "w") as file:
        file.write("rule t\n  command = true && true\n")
        file.write("".join(f"build {name}: t\n" for name in ["one", *names]))
        file.write(f"build all: phony {' '.join(names)}\ndefault all\n")

    def each(many, one):
        least = statistics.median(one)
        return [(taken - least) / (STEPS - 1) for taken in many]

    ninja = row(
        f"each of {STEPS} steps: ninja -j2",
        each(times(["ninja", "-j2"], cwd=path), times(["ninja", "-j2", "one"], cwd=path)))
    make = row(
        f"each of {STEPS} steps: make -j2",
        each(times(["make", "-j2", "all"], cwd=path), times(["make", "-j2", "one"], cwd=path)), "ninja -j2", ninja)
    call([PIPECTL, "plan", "many"], cwd=path)
    words = [PIPECTL, "run", "--slots", "2", "--ref", "main"]
    ours = each(times([*words, "many"], cwd=path), times([*words, "one"], cwd=path))
    row(f"each of {STEPS} steps: pipectl run --slots 2", ours, "ninja -j2", ninja)
    row("the same", ours, "make -j2", make)


def sandbox():
    """The same run and the same steps with and without a sandbox; the code is merged, so it may go without."""
    every = f'Workflow("many") {{ for n in 1...{STEPS} {{ Step("s\\(n)", run: "true && true") }} }}'
    path = repository("sandbox", workflow_set('Workflow("one") { Step("one", run: "true && true") }', every))
    spawn = row("a process: true", times(["true"]))
    words = [
        "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--ro-bind", "/", "/", "--proc",
        "/proc", "--dev", "/dev", "--", "true"]
    row("a process in a sandbox of its own: bwrap true", times(words), "true", spawn)
    words = [PIPECTL, "run", "--slots", "2", "--ref", "main"]
    found = {}
    for name, variables in [("without", {"PIPECTL_BWRAP": "/bin/false"}), ("with", {})]:
        extra.clear()
        extra.update(variables)
        home = f"sandbox-{name}"
        call([*words, "one"], cwd=path, home=home)
        call([*words, "many"], cwd=path, home=home)
        one = times([*words, "one"], cwd=path, home=home)
        many = times([*words, "many"], cwd=path, home=home)
        least = statistics.median(one)
        found[name] = (one, [(taken - least) / (STEPS - 1) for taken in many])
    extra.clear()
    plain = row("one run of one step, no sandbox", found["without"][0])
    row("one run of one step, sandbox", found["with"][0], "no sandbox", plain)
    plain = row(f"each of {STEPS} steps, no sandbox", found["without"][1])
    row(f"each of {STEPS} steps, one sandbox for all", found["with"][1], "no sandbox", plain)


def durability():
    """The same run with its state on disk, where each promise is written through, and in memory, where that is free."""
    path = repository("durability", workflow_set('Workflow("one") { Step("one", run: "true && true") }'))
    words = [PIPECTL, "run", "one", "--ref", "main"]
    memory = tempfile.mkdtemp(prefix="pipectl-bench.", dir="/dev/shm")
    try:
        call(words, cwd=path, home=memory)
        call(words, cwd=path, home="durable")
        free = row("one run, state in memory", times(words, cwd=path, home=memory))
        row("one run, state on disk", times(words, cwd=path, home="durable"), "in memory", free)
    finally:
        shutil.rmtree(memory, ignore_errors=True)


def log_file():
    file = f"{ROOT}/log.txt"
    line = b"2026-01-01T00:00:00Z compiling a file of some length and linking it with all the others, step by step\n"
    if not os.path.exists(file):
        with open(file, "wb") as out:
            out.write(line * (LOG_BYTES // len(line)))
    return file, os.path.getsize(file)


def megabytes(value):
    return f"{value:,.0f} MB/s"


def rates(size, taken, idle=0.0):
    return [size / max(seconds - idle, 1e-6) / 1e6 for seconds in taken]


def through(words, file):
    """Copies the file through a pipe, and `words` beside it."""
    taken = times(["sh", "-c", f"cat {file} | {words} > {ROOT}/copy.txt"])
    os.unlink(f"{ROOT}/copy.txt")
    return taken


def log():
    file, size = log_file()
    path = repository(
        "log",
        workflow_set(
            f'Workflow("log") {{ Step("cat", run: "cat {file}") }}', 'Workflow("one") { Step("one", run: "true") }'))
    words = [PIPECTL, "run", "--ref", "main"]
    idle = statistics.median(times([*words, "one"], cwd=path))
    cat = rates(size, times(["sh", "-c", f"cat {file} > {ROOT}/copy.txt"]))
    row(f"log of {size // 1_000_000} MB: cat to a file", cat, unit=megabytes)
    reference = row(
        f"log of {size // 1_000_000} MB: cat through a pipe to a file", rates(size, through("cat", file)),
        unit=megabytes)
    row(
        "log: pipectl run, 16 + 16 MiB kept", rates(size, times([*words, "log"], cwd=path), idle), "cat through a pipe",
        reference, unit=megabytes)
    row(
        "log: pipectl run, all kept", rates(size, times([*words, "--log-limit", "256", "log"], cwd=path), idle),
        "cat through a pipe", reference, unit=megabytes)


def masking():
    file, size = log_file()
    tokens = [f"{number:02}f8Kd/2Qz+pLw7Rt5Xv9Yb3Nc6Mj1Hg4Sa0Ue{number:02}" for number in range(10)]
    names = [f"TOKEN_{number}" for number in range(10)]
    given = ", ".join(f'"{name}"' for name in names)

    def step(rest):
        return f'Step("cat", run: "cat {file}"){rest}'

    path = repository(
        "masking",
        workflow_set(
            f'Workflow("plain") {{ {step("")} }}',
            f'Workflow("one") {{ {step(""".secrets("TOKEN_0", as: .environment)""")} }}',
            f'Workflow("ten") {{ {step(f".secrets({given}, as: .environment)")} }}',
            'Workflow("idle") { Step("one", run: "true") }'))
    for name, token in zip(names, tokens):
        subprocess.run(
            [PIPECTL, "secrets", "set", name], env=environment("state"), input=token.encode(), check=True,
            stderr=subprocess.DEVNULL)
    words = [PIPECTL, "run", "--ref", "main"]
    idle = statistics.median(times([*words, "idle"], cwd=path))
    reference = row("masking: cat through a pipe to a file", rates(size, through("cat", file)), unit=megabytes)
    sed = row(
        "masking: sed, one value as it is",
        rates(size, through(f"sed 's~{tokens[0]}~[secret]~g'", file)), "cat through a pipe", reference, unit=megabytes)
    script = "; ".join(f"s~{token}~[secret]~g" for token in tokens)
    row(
        "masking: sed, ten values as they are", rates(size, through(f"sed '{script}'", file)), "cat through a pipe",
        reference, unit=megabytes)
    for workflow, what in (("plain", "no secret"), ("one", "one secret, all forms"), ("ten", "ten secrets, all forms")):
        taken = rates(size, times([*words, workflow], cwd=path), idle)
        row(f"masking: pipectl run, {what}", taken, "cat through a pipe", reference, unit=megabytes)
        if workflow != "plain":
            row("the same", taken, "sed, one value", sed, unit=megabytes)


def refs():
    path = repository("refs", workflow_set('Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }'))
    tip = git("rev-parse", "HEAD", cwd=path)
    lines = sorted(f"{tip} refs/pull/{n}/head" for n in range(1, REFS + 1))
    with open(f"{path}/.git/packed-refs", "w") as file:
        file.write("# pack-refs with: peeled fully-peeled sorted \n" + "\n".join(lines) + "\n")

    def forget():
        # The compiled workflow stays: only the baseline is measured.
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(f"{ROOT}/refs-state/index.sqlite{suffix}"):
                os.unlink(f"{ROOT}/refs-state/index.sqlite{suffix}")

    reference = row(f"{REFS:,} refs: git for-each-ref", times(["git", "for-each-ref"], cwd=path))
    words = [PIPECTL, "watch", "--once", path]
    row(
        f"{REFS:,} refs: watch --once, baseline", times(words, before=forget, home="refs-state"), "git for-each-ref",
        reference)
    row(f"{REFS:,} refs: watch --once, nothing moved", times(words, home="refs-state"), "git for-each-ref", reference)


def memory():
    path = repository("memory", workflow_set('Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }'))
    call([PIPECTL, "watch", "--once", path], home="memory-state")
    now, most = [], []
    for _ in range(COUNT):
        process = daemon("memory-state", path)
        time.sleep(3)
        with open(f"/proc/{process.pid}/status") as file:
            status = dict(line.split(":", 1) for line in file if ":" in line)
        now.append(int(status["VmRSS"].split()[0]) / 1024)
        most.append(int(status["VmHWM"].split()[0]) / 1024)
        stop(process)
    row("idle daemon, one repository: resident", now, unit=lambda value: f"{value:.1f} MiB")
    row("idle daemon, one repository: peak", most, unit=lambda value: f"{value:.1f} MiB")


def table():
    titles = ("what", f"median of {COUNT}", "least – most", "beside", "ratio")
    widths = [max(len(line[column]) for line in [titles, *rows]) for column in range(len(titles))]
    for line in [titles, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip(), flush=True)


def main():
    parts = {
        "load": load, "push": push, "run": run, "steps": steps, "log": log, "masking": masking, "sandbox": sandbox,
        "durability": durability, "refs": refs, "memory": memory,
    }
    unknown = [name for name in WANTED if name not in parts]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(parts)}")
    failed = []
    try:
        for name in WANTED or parts:
            say(f"measuring: {name}")
            try:
                parts[name]()
            except (SystemExit, OSError, subprocess.SubprocessError) as error:
                say(f"{name} could not be measured: {error}")
                failed.append(name)
    finally:
        for process in daemons:
            process.kill()
        shutil.rmtree(ROOT, ignore_errors=True)
    print()
    table()
    if failed:
        raise SystemExit(f"not measured: {', '.join(failed)}")


main()
