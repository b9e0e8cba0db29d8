"""A workspace over a base for 10 changed files of 3,000, 30,000 and 100,000, beside git worktree add and git checkout."""

import os
import re
import shutil
import time

from bench import Problem
from figures import MILLISECONDS

MADE = re.compile(r"run (\d+): workspace in ([0-9.]+) ms, over (\d+) layers, (\d+) paths written")
CHANGED = 10


class Files:
    """A repository of so many files, and changes of ten of them, spread over all folders."""

    def __init__(self, bench, number):
        self.bench, self.number = bench, number
        workflows = bench.workflow_set(
            'Workflow("test", on: .pullRequest(into: "main")) { Step("one", run: "true") }')
        self.path = bench.repository(f"files-{number}", workflows)
        self.main = bench.git("rev-parse", "HEAD", cwd=self.path)
        self.write("refs/heads/main", range(number), "first")
        self.main = bench.git("rev-parse", "main", cwd=self.path)
        # The files of the first commit are no concern of ours, and would be in the way of a checkout.
        bench.git("repack", "-adq", cwd=self.path)

    def name(self, number):
        return f"source/{number // 1000}/{number // 100 % 10}/file{number}.txt"

    def write(self, ref, numbers, text):
        lines = [
            f"commit {ref}", "committer Bench <bench@example.com> 1700000000 +0000", "data 4", "text",
            f"from {self.main}"]
        for number in numbers:
            content = f"{text} of {number}\n" * 20
            lines += [f"M 100644 inline {self.name(number)}", f"data {len(content)}", content]
        self.bench.run(
            ["git", "fast-import", "--quiet", "--force"], cwd=self.path, input=("\n".join(lines) + "\n").encode())
        return self.bench.git("rev-parse", ref, cwd=self.path)

    def change(self, number):
        step = self.number // CHANGED
        return self.write(
            f"refs/pull/{number}/head", range(number % step, self.number, step), f"change {number}")


class Daemon:
    """A daemon whose log is read."""

    def __init__(self, bench, files):
        self.log = f"{bench.root}/log-{files.number}"
        self.process = bench.start(
            ["sh", "-c", f'exec "$0" "$@" 2> {self.log}', bench.pipectl, "watch", "--verbose", "--refresh",
             "--interval", "3600", files.path], home=f"state-{files.number}")
        self.seen = 0

    def says(self, words, seconds=300):
        """Waits until the log has these words."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if os.path.exists(self.log) and words in open(self.log).read():
                return
            time.sleep(0.1)
        raise Problem(f'no "{words}" within {seconds} s; the end of the log: {open(self.log).read()[-500:]}')

    def workspace(self, over_base, seconds=120):
        """The next one that is said to be made, in seconds."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with open(self.log) as file:
                found = [match for match in MADE.finditer(file.read()) if int(match[1]) > self.seen]
            for match in found:
                self.seen = int(match[1])
                # A run of the box's own, which makes a base, begins from nothing and is not what is asked for.
                if (int(match[4]) > 0) == over_base:
                    return float(match[2]) / 1_000
            time.sleep(0.05)
        raise Problem(f"no workspace was made within {seconds} s; the end of the log: {open(self.log).read()[-500:]}")


def measure(bench):
    for number in bench.amount((3_000, 30_000, 100_000), (1_000, 5_000)):
        files = Files(bench, number)
        daemon = Daemon(bench, files)
        daemon.says("baseline of")
        count, tree = 0, f"{bench.root}/tree-{number}"
        files.change(1)
        # It has nothing to begin from; the box then makes the base of its target in its idle time.
        daemon.workspace(over_base=False)
        daemon.says("left a warm workspace of")
        bench.git("worktree", "add", "--quiet", "--detach", f"{tree}-warm", "main", cwd=files.path)

        def ours():
            nonlocal count
            count += 1
            files.change(1 + count)
            return daemon.workspace(over_base=True)

        def added():
            shutil.rmtree(tree, ignore_errors=True)
            bench.git("worktree", "prune", cwd=files.path)
            return bench.call(["git", "worktree", "add", "--quiet", "--detach", tree, "main"], cwd=files.path)

        def warm():
            taken = bench.call(
                ["git", "checkout", "--quiet", "--detach", f"refs/pull/{1 + count}/head"], cwd=f"{tree}-warm")
            # Two changes differ in twenty files: as for us, the next one is held against its target.
            bench.git("checkout", "--quiet", "--detach", "main", cwd=f"{tree}-warm")
            return taken

        found = bench.trials(ours=ours, warm=warm, added=added)
        bench.figure(f"{number:,} files: git worktree add", found["added"])
        bench.figure(f"{number:,} files: git checkout of {CHANGED} changed ones", found["warm"])
        bench.figure(
            f"{number:,} files: workspace over a base, {CHANGED} changed", found["ours"], beside=found["warm"],
            of="git checkout", goal=MILLISECONDS.at_most(30))
        bench.stop(daemon.process)
        for folder in (tree, f"{tree}-warm"):
            shutil.rmtree(folder, ignore_errors=True)
