"""A daemon of the built program that has the cluster and the two hosts as its machines."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import time

from cluster import HOSTS, Problem, kill, until

SHIM = pathlib.Path(__file__).resolve().parents[2] / 'Tests/FaultTests/Shims/clock.c'


class Box:
    def __init__(self, pipectl, work, cluster):
        self.pipectl, self.work, self.cluster = pathlib.Path(pipectl).resolve(), work, cluster
        self.repository, self.log = work / 'app', work / 'daemon.log'
        self.environment = {**cluster.environment, 'PIPECTL_HOME': str(work / 'home')}
        self.process = None

    # Commands

    def git(self, *words, input=None):
        return subprocess.run(
            ['git', '-c', 'user.name=Dev', '-c', 'user.email=dev@example.com', '-c', 'core.hooksPath=/dev/null',
             '-c', 'commit.gpgsign=false', *words], cwd=self.repository, env=self.environment, capture_output=True,
            text=True, input=input, check=True).stdout.strip()

    def call(self, *words, codes=(0,)):
        done = subprocess.run([self.pipectl, *words], cwd=self.repository, env=self.environment, capture_output=True,
                              text=True, timeout=180, check=False)
        if codes and done.returncode not in codes:
            raise Problem(f'pipectl {" ".join(words)}: {done.stderr.strip()}')
        return done.stdout

    # Machines

    def add_host(self, host, slots=1):
        key = self.cluster.folder / 'ssh' / f'host{host[-1]}.pub'
        words = subprocess.run(['ssh-keygen', '-lf', key], capture_output=True, text=True, check=True).stdout.split()
        self.call('machines', 'add', f'ssh://root@{self.cluster.addresses[host]}', '--name', host, '--label', 'host',
                  '--slots', str(slots), '--fingerprint', words[1])

    def add_cluster(self, slots=4, label='node'):
        self.call('machines', 'add', 'slurm', '--name', 'cluster', '--label', label, '--slots', str(slots), '--cpus', '2',
                  '--memory', '900MiB')

    def add_machines(self):
        """Adds those that are not in the list."""
        known = [machine['name'] for machine in json.loads(self.call('machines', '--json'))]
        for host in HOSTS:
            if host not in known:
                self.add_host(host)
        if 'cluster' not in known:
            self.add_cluster()

    def forgive(self):
        """Makes the daemon try machines at once that it leaves alone."""
        for machine in json.loads(self.call('machines', '--json')):
            if machine.get('reason'):
                self.call('machines', 'drain', machine['name'])
                self.call('machines', 'drain', machine['name'], '--end')

    # The repository

    def make(self, files):
        self.repository.mkdir()
        self.git('init', '-q', '-b', 'main')
        for path, text in files.items():
            (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / path).write_text(text)
        self.git('add', '-A')
        self.git('commit', '-qm', 'First')

    def push(self, branch, text):
        """A new commit on a branch; the daemon is told."""
        tree = self.git('rev-parse', f'{branch}^{{tree}}')
        commit = self.git('commit-tree', tree, '-p', branch, '-m', text)
        self.git('update-ref', f'refs/heads/{branch}', commit)
        self.call('notify', codes=None)
        return commit

    # The daemon

    def start(self, *options):
        size = self.log.stat().st_size if self.log.exists() else 0
        log = open(self.log, 'ab')
        self.process = subprocess.Popen(
            [self.pipectl, 'watch', '--minimum-free', '0', '--no-refresh', '--interval', '1', '--protected', '*', *options, self.repository],
            cwd=self.repository, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**self.environment, **self.clock()}, start_new_session=True)
        until('daemon', lambda: b'"watching"' in self.said(size) or b'is watching' in self.said(size), 60)

    # For those who import only this class.
    until = staticmethod(until)

    def until_said(self, text):
        until(text, lambda: text.encode() in self.said(), 60)

    def said(self, offset=0):
        with open(self.log, 'rb') as file:
            file.seek(offset)
            return file.read()

    def kill(self):
        kill(self.process.pid)
        self.process.wait(60)

    def stop(self):
        """Ends the daemon with its runs, as three SIGTERM do."""
        if self.process is None or self.process.poll() is not None:
            return
        for _ in range(3):
            try:
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(10)
                return
            except subprocess.TimeoutExpired:
                continue
        self.kill()

    # Its clock

    def clock(self):
        """Variables that preload a clock which `move_clock` moves; none without a C compiler."""
        library = self.work / 'clock.so'
        if not library.exists():
            for compiler in ('cc', 'clang'):
                try:
                    subprocess.run([compiler, '-shared', '-fPIC', '-o', library, SHIM], check=True, capture_output=True)
                    break
                except (OSError, subprocess.CalledProcessError):
                    continue
            else:
                return {}
        return {'LD_PRELOAD': str(library), 'FAULT_CLOCK': str(self.work / 'clock')}

    def move_clock(self, seconds):
        if not (self.work / 'clock').exists():
            raise Problem('there is no C compiler, which the moved clock needs')
        with open(self.work / 'clock', 'r+b') as file:
            file.write(struct.pack('=q', seconds))

    # What it recorded

    def runs(self):
        return json.loads(self.call('runs', '--json', '--limit', '1000'))

    def verdict(self, commit, workflow, seconds=240):
        """Waits for the verdict of a commit's run; returns the run."""
        def look():
            return next((run for run in self.runs() if run['head'] == commit and run['workflow'] == workflow
                         and run.get('verdict')), None)
        return until(f'verdict of {workflow}', look, seconds, 0.3)

    def report(self, run):
        return json.loads(self.call('report', str(run['id']), '--format', 'json'))
