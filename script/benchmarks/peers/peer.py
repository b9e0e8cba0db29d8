"""What the daemons of other tools have in common: they may be missing or broken, and the bench goes on without them."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time

from bench import Problem


class Peer:
    """A daemon of another tool in a folder of its own below `folder`; `trouble` says why it has no figures."""

    title = ""
    programs = ()

    def __init__(self, bench, folder):
        self.bench, self.home = bench, tempfile.mkdtemp(prefix=f"{self.title.lower()}-", dir=folder or bench.root)
        self.processes, self.is_told = [], False
        lacking = [program for program in self.programs if not shutil.which(program)]
        self.trouble = f"not found: {', '.join(lacking)}" if lacking else ""

    # What goes wrong with a peer is said in its row; what goes wrong with pipectl ends the part.

    def attempt(self, body):
        """What `body` returns, or nothing if this peer can't do it or has failed before."""
        if self.trouble:
            return None
        try:
            return body()
        except (Problem, OSError, subprocess.SubprocessError, sqlite3.Error, ValueError) as error:
            lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            # Foreign text on its way to a terminal: one line, and nothing in it that a terminal obeys.
            self.trouble = "failed: " + "".join(c if c.isprintable() else "?" for c in lines[-1])[:150].rstrip(": ")
            self.stop()
            return None

    def trial(self, name, body):
        """For Bench.trials: `body` by its name, or nothing where this peer has no figures."""
        return {} if self.trouble else {name: lambda: self.attempt(body)}

    # Rows

    def figure(self, name, values, *rest, **more):
        """Adds a row of this peer; where there is none, one row says why, once in a part."""
        if not self.trouble and not values:
            self.trouble = "failed: no value"
        if not self.trouble:
            self.bench.figure(f"{self.title} {name}", values, *rest, **more)
        elif not self.is_told:
            self.is_told = True
            self.bench.missing(self.title, self.trouble)

    def compare(self, name, ours, theirs, of="", **more):
        """Adds a row of ours beside this peer's values."""
        if not self.trouble:
            self.bench.figure(name, ours, beside=theirs, of=of or self.title, **more)

    # Processes

    def write(self, path, text, mode=0o644):
        whole = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w") as file:
            file.write(text)
        os.chmod(whole, mode)
        return whole

    def start(self, words, variables=None, cwd=None):
        """Starts a daemon, which says into daemon.log what it has to say."""
        with open(os.path.join(self.home, "daemon.log"), "ab") as log:
            process = self.bench.start(words, cwd or self.home, variables=variables, output=log)
        self.processes.append(process)
        return process

    def until(self, is_so, what, seconds, pause=0.05):
        """Waits until `is_so`; fails after so many seconds, or at once if a daemon of this peer has ended."""
        limit = time.monotonic() + seconds
        while not is_so():
            ended = [process for process in self.processes if process.poll() is not None]
            if ended:
                raise Problem(f"{what}: {os.path.basename(ended[0].args[0])} ended with {ended[0].returncode}")
            if time.monotonic() > limit:
                raise Problem(f"{what}: not within {seconds} s")
            time.sleep(pause)

    def stop(self):
        """Ends its processes, the last that was started first."""
        for process in reversed(self.processes):
            try:
                self.bench.stop(process)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                self.bench.processes.remove(process)
        self.processes = []
