"""The common base of all parts: a folder, repositories, commands, daemons, trials, and the rows of the table."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from figures import SECONDS, Figure


class Problem(Exception):
    """Why a part could not be measured."""


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


class Bench:
    def __init__(self, pipectl, count, is_quick):
        self.pipectl, self.count, self.is_quick = os.path.realpath(pipectl), count, is_quick
        self.root = tempfile.mkdtemp(prefix="pipectl-bench.")
        # Steps may be another user, and some of them say here that they have started.
        os.chmod(self.root, 0o1777)
        self.figures = []
        self.part = ""
        self.extra = {}  # variables of every command, for as long as a part wants them
        self.processes = []

    # What a part says

    def figure(self, name, values, unit=SECONDS, beside=None, of="", goal=None):
        figure = Figure(self.part, name, list(values), unit, beside, of, goal)
        self.figures.append(figure)
        return figure.median

    def missing(self, name, why="not found"):
        self.figures.append(Figure(self.part, name, [], SECONDS, note=why))

    def peer(self, program):
        """The path of another tool; if it is missing, a row says so."""
        found = shutil.which(program)
        if not found:
            self.missing(program)
        return found

    def amount(self, many, few):
        return few if self.is_quick else many

    # Trials

    def trials(self, count=None, **bodies):
        """Values of each body, taken in turns, so that disturbances of the machine affect all of them alike."""
        found = {name: [] for name in bodies}
        for number in range((count or self.count) + 1):
            for name, body in bodies.items():
                value = body()
                if number > 0:  # the first round warms caches
                    found[name].append(value)
        return found

    # Commands

    def environment(self, home):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PIPECTL_")}
        kept["PIPECTL_HOME"] = os.path.join(self.root, home)
        return {**kept, **self.extra}

    def _sharing(self, words):
        """The command, with options that show this bench's folder to its steps and run all steps every time."""
        if words[0] != self.pipectl or words[1] not in ("run", "watch"):
            return words
        # A trial after the first would find its steps proved, and measure that.
        proofs = ["--no-proofs"] if words[1] == "run" else []
        return [*words[:2], *proofs, "--shared", self.root, *words[2:]]

    def run(self, words, cwd=None, home="state", codes=(0,), variables=None, **more):
        """Runs a command to its end; an exit code that is not in `codes` ends the part."""
        words = self._sharing(words)
        more.setdefault("stdin", None if "input" in more else subprocess.DEVNULL)
        more = {key: value for key, value in more.items() if value is not None}
        done = subprocess.run(
            words, cwd=cwd or self.root, env={**self.environment(home), **(variables or {})}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **more)
        if done.returncode not in codes:
            raise Problem(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
        return done

    def call(self, words, **more):
        """The seconds that a command takes."""
        started = time.perf_counter()
        self.run(words, **more)
        return time.perf_counter() - started

    def cpu(self, words, **more):
        """The CPU time of a command and its children, in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run(words, **more)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def new_file(self, folder=None):
        """Seconds that a small new file costs where `folder` is, of 100 in a new folder, nothing flushed.

        On ext4 without a journal it may be ten times as much for some minutes after many files were removed, by this
        bench too: runs that make files can be held against runs of another hour only if this was the same.
        """
        place = tempfile.mkdtemp(prefix="files-", dir=folder or self.root)
        started = time.perf_counter()
        for number in range(100):
            with open(f"{place}/{number}", "wb") as file:
                file.write(b"x" * 1_000)
        return (time.perf_counter() - started) / 100

    # Repositories

    def git(self, *words, cwd, input=None):
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *identity, *words], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True, input=input
        ).stdout.strip()

    def repository(self, name, workflows, files=None):
        path = f"{self.root}/{name}"
        for file, text in {"workflows/Workflows.swift": workflows, **(files or {})}.items():
            os.makedirs(os.path.dirname(f"{path}/{file}"), exist_ok=True)
            with open(f"{path}/{file}", "w") as out:
                out.write(text)
        self.git("init", "--quiet", "-b", "main", cwd=path)
        self.git("add", "--all", cwd=path)
        self.git("commit", "--quiet", "-m", "Workflows", cwd=path)
        return path

    @staticmethod
    def workflow_set(*workflows):
        names = ", ".join(f"w{index}" for index in range(len(workflows)))
        text = "import Pipeline\n"
        for index, workflow in enumerate(workflows):
            text += f"let w{index} = {workflow}\n"
        return text + f"@main struct Workflows: WorkflowSet {{ static let workflows = [{names}] }}\n"

    @staticmethod
    def packed_refs(path, refs):
        """Adds refs (name to commit) to a repository, without a file for each."""
        folder = f"{path}/.git" if os.path.isdir(f"{path}/.git") else path
        with open(f"{folder}/packed-refs", "w") as file:
            file.write("# pack-refs with: peeled fully-peeled sorted \n")
            file.writelines(f"{commit} {name}\n" for name, commit in sorted(refs.items()))

    # Daemons

    def start(self, words, cwd=None, home="state", variables=None, output=subprocess.DEVNULL):
        process = subprocess.Popen(
            self._sharing(words), cwd=cwd or self.root, env={**self.environment(home), **(variables or {})},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.processes.append(process)
        return process

    def daemon(self, home, *words, cwd=None):
        """Starts a daemon and returns it once it answers."""
        process = self.start([self.pipectl, "watch", *words], cwd, home)
        for _ in range(1_200):
            asked = subprocess.run(
                [self.pipectl, "status"], env=self.environment(home), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            if asked.returncode == 0:
                return process
            if process.poll() is not None:
                break
            time.sleep(0.05)
        raise Problem("the daemon did not start")

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        self.processes.remove(process)

    @staticmethod
    def wait_until(what, is_there, seconds=60, pause=0.1):
        limit = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > limit:
                raise Problem(f"{what} did not appear within {seconds} s")
            time.sleep(pause)

    def wait_for(self, path, seconds=60):
        """Waits until a file exists; returns its content."""
        self.wait_until(path, lambda: os.path.exists(path) and os.path.getsize(path) > 0, seconds, pause=0.001)
        with open(path) as file:
            return file.read()

    # Pushes: each has a number in its tree, which the run reports

    def starting_step(self, name):
        """A step that records its start in one file for each push; runs of other commits record nothing."""
        return f'Step("one", run: "if [ -e number ]; then date +%s.%N > {self.root}/{name}-$(cat number); fi")'

    def push(self, path, name, number, notify=None):
        """Seconds from a push of change `number` to the first process of its step, as `starting_step` told it."""
        blob = self.git("hash-object", "-w", "--stdin", cwd=path, input=f"{number}\n")
        entries = self.git("ls-tree", "main", cwd=path)
        tree = self.git("mktree", cwd=path, input=f"{entries}\n100644 blob {blob}\tnumber\n")
        commit = self.git("commit-tree", tree, "-p", "main", "-m", f"Push {number}", cwd=path)
        started = time.time()
        self.git("update-ref", f"refs/pull/{number}/head", commit, cwd=path)
        if notify:
            self.run([self.pipectl, "notify"], home=notify)
        return float(self.wait_for(f"{self.root}/{name}-{number}")) - started

    def end_part(self):
        for process in list(self.processes):
            try:
                self.stop(process)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait()
        self.processes = []
        self.extra = {}

    def close(self):
        self.end_part()
        shutil.rmtree(self.root, ignore_errors=True)


class Memory:
    """A value of /proc/PID/status, in MiB."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/status") as file:
            status = dict(line.split(":", 1) for line in file if ":" in line)
        self.resident = int(status["VmRSS"].split()[0]) / 1024
        self.peak = int(status["VmHWM"].split()[0]) / 1024
        self.threads = int(status["Threads"])
        with open(f"/proc/{pid}/smaps_rollup") as file:
            rollup = dict(line.split(":", 1) for line in list(file)[1:])
        # The share of pages that others have mapped too is counted in part.
        self.proportional = int(rollup["Pss"].split()[0]) / 1024
        self.private = (int(rollup["Private_Dirty"].split()[0]) + int(rollup["Private_Clean"].split()[0])) / 1024


def peak(pids, body):
    """Returns the result of `body`, and the sum of the peak memory of the processes meanwhile, in MiB."""
    for pid in pids:
        with open(f"/proc/{pid}/clear_refs", "w") as file:
            file.write("5")  # the peak is counted anew from here (proc(5))
    value = body()
    return value, sum(Memory(pid).peak for pid in pids)


def processor_seconds(pid):
    """CPU time of a process and its ended children so far, with a resolution of 1/100 s."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(fields[number]) for number in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")


def own_processor_seconds(pid):
    """The same in nanosecond steps and without children: the process's own clock (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)
