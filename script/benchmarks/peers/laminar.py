"""Laminar (https://laminar.ohwg.net): one daemon, jobs are scripts; no steps, no sandbox, no checkout of its own."""

import os
import shlex
import shutil
import sqlite3
import subprocess
import time

from bench import Problem
from peers.peer import Peer

FAILED = 3  # laminarc's exit code when a run didn't pass
PASSED = 5  # a run's result in the database


class Laminar(Peer):
    """laminard in a folder of its own, on Unix sockets; `jobs` are shell scripts by their names."""

    title = "Laminar"
    programs = ("laminard", "laminarc")

    def __init__(self, bench, jobs, folder=None, executors=2):
        super().__init__(bench, folder)
        self.address = f"unix:{self.home}/rpc"
        self.client = shutil.which("laminarc")
        self.process = self.attempt(lambda: self._begin(jobs, executors))

    def _begin(self, jobs, executors):
        for name, text in jobs.items():
            self.write(f"cfg/jobs/{name}.run", f"#!/bin/sh\n{text}\n", 0o755)
        self.write("cfg/contexts/default.conf", f"EXECUTORS={executors}\n")
        process = self.start(
            [shutil.which("laminard")],
            {"LAMINAR_HOME": self.home, "LAMINAR_BIND_RPC": self.address,
             "LAMINAR_BIND_HTTP": f"unix:{self.home}/http"})
        self.until(self._answers, "laminard does not answer", 20)
        return process

    def _answers(self):
        done = subprocess.run(
            [self.client, "show-jobs"], env={**os.environ, "LAMINAR_HOST": self.address}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)
        return done.returncode == 0

    @staticmethod
    def enclosed(repository, commit, root, command):
        """The text of a job that does for itself what pipectl does for a step: the commit's files, and a sandbox.

        The sandbox is a plain one, which shows the whole machine read-only and `root` writable. `commit` and `command`
        are shell text; `command` has no single quotes in it.
        """
        root = shlex.quote(root)
        return (
            f"git -C {shlex.quote(repository)} archive {commit} | tar -x && bwrap --unshare-pid --unshare-ipc "
            f"--unshare-uts --unshare-net --ro-bind / / --bind {root} {root} --proc /proc --dev /dev -- "
            f"sh -c '{command}'")

    def queue(self, job, variables):
        """Shell text that queues a run of the job; the values of `variables` are shell text too, in double quotes."""
        given = " ".join(f'{name}="{value}"' for name, value in variables.items())
        return f"LAMINAR_HOST={shlex.quote(self.address)} {shlex.quote(self.client)} queue {job} {given} >/dev/null"

    def run(self, job, times=1, seconds=300):
        """Seconds from the start of a laminarc that queues so many runs until the last of them is over and recorded.

        laminarc ends when the last process has; only then does Laminar compress the log and write to its database,
        which is not read here: Laminar doesn't wait for a reader's lock to go. It has one thread, and lists a run as
        running until it has done so.
        """
        started = time.perf_counter()
        done = self._ask("run", *[job] * times, seconds=seconds, codes=(0, FAILED))
        self.until(lambda: not self._ask("show-running").stdout.strip(), "runs go on", seconds, pause=0.001)
        if done.returncode == FAILED:
            raise Problem(f"a run of {job} failed: {self._said()}")
        return time.perf_counter() - started

    def _ask(self, *words, seconds=60, codes=(0,)):
        return self.bench.run(
            [self.client, *words], variables={"LAMINAR_HOST": self.address}, timeout=seconds, codes=codes)

    def _said(self):
        """What the newest failed run printed; logs of at least 1 kB are compressed, and not read here."""
        database = sqlite3.connect(f"file:{self.home}/laminar.sqlite?mode=ro", uri=True, timeout=10)
        try:
            found = database.execute(
                "SELECT output FROM builds WHERE result != ? AND outputLen < 1000 ORDER BY number DESC LIMIT 1",
                (PASSED,)).fetchone()
        finally:
            database.close()
        return str(found[0]).replace("\n", " ") if found else "its log is long"
