"""Buildbot (https://buildbot.net): a master and its workers; steps, no sandbox."""

import json
import os
import shutil
import socket
import sqlite3
import time
import urllib.error
import urllib.parse
import urllib.request

from bench import Problem
from peers.peer import Peer

# Buildbot's own defaults, but for what is said here: all requests are built, and nobody is told of this installation.
CONFIGURATION = """\
import json
import os

from buildbot.plugins import changes, schedulers, steps, util, worker

with open(os.path.join(basedir, "given.json")) as file:
    given = json.load(file)
c = BuildmasterConfig = {
    "title": "Bench", "titleURL": "http://127.0.0.1/", "buildbotURL": f"http://127.0.0.1:{given['www']}/",
    "buildbotNetUsageData": None, "collapseRequests": False, "db": {"db_url": "sqlite:///state.sqlite"},
    "protocols": {"pb": {"port": f"tcp:{given['pb']}:interface=127.0.0.1"}},
    "www": {"port": f"tcp:{given['www']}:interface=127.0.0.1", "plugins": {}, "change_hook_dialects": {"base": True}},
    "change_source": [changes.PBChangeSource(user="bench", passwd="bench")],
    "workers": [worker.Worker(name, "bench", max_builds=1) for name in given["workers"]],
    "schedulers": [], "builders": [],
}
if given["poll"]:
    c["change_source"].append(changes.GitPoller(repourl=given["poll"], branches=True, pollInterval=1, project="polled"))
for name, commands in given["jobs"].items():
    factory = util.BuildFactory([
        steps.ShellCommand(
            name=f"step {number}", command=command, env={"COMMIT": util.Interpolate("%(src::revision)s")})
        for number, command in enumerate(commands)])
    c["builders"].append(util.BuilderConfig(name=name, workernames=given["workers"], factory=factory))
    c["schedulers"].append(schedulers.AnyBranchScheduler(
        name=name, builderNames=[name], treeStableTimer=None, change_filter=util.ChangeFilter(project=name)))
"""


def free_ports(count):
    """Ports of the loopback interface that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Buildbot(Peer):
    """A master and as many workers as there are executors, on loopback; `jobs` are lists of shell steps by name.

    `poll` is a repository that the master looks at every second, which is as often as it can.
    """

    title = "Buildbot"
    programs = ("buildbot", "buildbot-worker")

    def __init__(self, bench, jobs, folder=None, executors=2, poll=""):
        super().__init__(bench, folder)
        self.attempt(lambda: self._begin(jobs, [f"worker{number}" for number in range(executors)], poll))

    def _begin(self, jobs, workers, poll):
        self.http, self.pb = free_ports(2)
        master = os.path.join(self.home, "master")
        self.bench.run(["buildbot", "create-master", "--quiet", "--relocatable", master], timeout=120)
        self.write("master/master.cfg", CONFIGURATION)
        given = {"www": self.http, "pb": self.pb, "workers": workers, "jobs": jobs, "poll": poll}
        self.write("master/given.json", json.dumps(given))
        self.start([shutil.which("buildbot"), "start", "--nodaemon", master])
        self.until(self._answers, "the master does not answer", 60)
        for name in workers:
            folder = os.path.join(self.home, name)
            self.bench.run(
                ["buildbot-worker", "create-worker", "--relocatable", folder, f"127.0.0.1:{self.pb}", name, "bench"],
                timeout=60)
            self.start([shutil.which("buildbot-worker"), "start", "--nodaemon", folder])
        self.until(lambda: self._connected() == len(workers), "the workers do not connect", 60)

    @property
    def master(self):
        return self.processes[0]

    @property
    def workers(self):
        return self.processes[1:]

    # Asking

    def _get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=30) as answer:
            return json.loads(answer.read(1 << 20))

    def _answers(self):
        try:
            return bool(self._get("/api/v2/application.spec")["specs"])
        except (urllib.error.URLError, OSError):
            return False

    def _connected(self):
        return sum(bool(one["connected_to"]) for one in self._get("/api/v2/workers")["workers"])

    def _ended(self):
        """Builds that are over, as the master's database has it; readers don't hold up its writer (WAL)."""
        database = sqlite3.connect(f"file:{self.home}/master/state.sqlite?mode=ro", uri=True, timeout=10)
        try:
            ended, failed = database.execute(
                "SELECT count(*), coalesce(sum(results != 0), 0) FROM builds WHERE complete_at IS NOT NULL").fetchone()
        finally:
            database.close()
        if failed:
            raise Problem(f"{failed} builds failed")
        return ended

    # Telling of changes

    def post(self, job, commit):
        """Shell text that tells the master of a change by HTTP; `commit` is shell text too, in double quotes."""
        fields = f'--data project={job} --data author=bench --data comments=push --data revision="{commit}"'
        return f"{shutil.which('curl')} --silent --fail --output /dev/null {fields} {self.address}"

    def send_change(self, job, commit):
        """The same with Buildbot's own command."""
        return (
            f"{shutil.which('buildbot')} sendchange --master 127.0.0.1:{self.pb} --auth bench:bench --who bench "
            f'--project {job} --revision "{commit}" >/dev/null')

    @property
    def address(self):
        return f"http://127.0.0.1:{self.http}/change_hook/base"

    def run(self, job, times=1, seconds=300):
        """Seconds from the first of so many changes that the master is told of until the last build is over."""
        before, started = self._ended(), time.perf_counter()
        for number in range(times):
            fields = {"project": job, "author": "bench", "comments": "push", "revision": f"{number:040}"}
            urllib.request.urlopen(self.address, urllib.parse.urlencode(fields).encode(), timeout=30).close()
        self.until(lambda: self._ended() >= before + times, f"{times} builds are not over", seconds, pause=0.005)
        return time.perf_counter() - started

    def settled(self):
        """Waits until no build is under way: a step tells of its start before its build is over."""
        def is_so():
            database = sqlite3.connect(f"file:{self.home}/master/state.sqlite?mode=ro", uri=True, timeout=10)
            try:
                return not database.execute(
                    "SELECT count(*) FROM buildrequests WHERE complete = 0").fetchone()[0]
            finally:
                database.close()
        self.until(is_so, "builds are not over", 60)
