"""The cluster of script/cluster, in a folder of its own, and what runs in its nodes and hosts."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / 'cluster'
NODES = ['node1', 'node2', 'node3', 'node4']
HOSTS = ['host1', 'host2']


class Problem(Exception):
    """Why something could not be shown."""


def until(what, look, seconds=60, pause=0.05):
    """Waits until `look` returns something, and returns it."""
    end = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            raise Problem(f'no {what} within {seconds} s')
        time.sleep(pause)


class Cluster:
    """Starts a cluster below `work`; use it as a context."""

    def __init__(self, work):
        self.folder = work / 'cluster'
        # Nodes have the home and the variables of who asks Slurm: nothing of the user's is in them.
        self.home = work / 'root'
        self.home.mkdir()
        self.environment = {
            'PATH': f'{work}/bin:' + os.environ.get('PATH', '/usr/bin:/bin') + ':/usr/sbin:/sbin', 'HOME': str(self.home),
            'LC_ALL': 'C.UTF-8', 'SLURM_CONF': str(self.folder / 'slurm.conf')}
        self.work = work

    def __enter__(self):
        self.run('start')
        said = dict(line.split('=', 1) for line in self.run('env').replace('export ', '').split() if '=' in line)
        self.addresses = {host: said[f'PIPECTL_CLUSTER_{host.upper()}'] for host in HOSTS}
        # What the hosts see of this machine.
        self.gateways = [self._gateway(address) for address in self.addresses.values()]
        # The user's own key is not used, and `~/.ssh` is that of the user's entry in /etc/passwd.
        client = self.work / 'bin' / 'ssh'
        client.parent.mkdir()
        client.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -i {said["PIPECTL_CLUSTER_KEY"]} "$@"\n')
        client.chmod(0o755)
        return self

    def __exit__(self, *_):
        for host in HOSTS:
            subprocess.run([SCRIPT, 'mend', host[-1]], env=self._own(), capture_output=True, check=False)
        self.run('stop')

    @staticmethod
    def _gateway(address):
        head, last = address.rsplit('.', 1)
        return f'{head}.{int(last) - 1}'

    def _own(self):
        return {**self.environment, 'PIPECTL_CLUSTER': str(self.folder), 'TMPDIR': str(self.work)}

    def run(self, *words, check=True):
        done = subprocess.run([SCRIPT, *words], env=self._own(), capture_output=True, text=True, timeout=120, check=False)
        if check and done.returncode != 0:
            raise Problem(f'script/cluster {" ".join(words)}: {done.stderr.strip() or done.stdout.strip()}')
        return done.stdout.strip()

    def inside(self, part, line, check=True):
        """Runs a line of a shell in a node or host."""
        return self.run('inside', part, 'sh', '-c', line, check=check)

    def slurm(self, *words):
        return subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=False).stdout.strip()

    # Faults

    def pid(self, part):
        return int(self.run('pid', part))

    def kill(self, part):
        """Kills a part as a crash would, without starting it again."""
        kill(self.pid(part))
        until(f'end of {part}', lambda: not self.run('pid', part, check=False), 20)

    def crash(self, part):
        self.kill(part)
        self.run('start')

    def cut(self, host):
        self.run('cut', host[-1])

    def mend(self, host):
        self.run('mend', host[-1])

    def settle(self):
        """Waits until nothing of the last fault is left of the cluster itself."""
        self.run('start')
        for node in NODES:
            if self.slurm('sinfo', '-h', '-n', node, '-o', '%t') not in ('idle', 'mix', 'alloc'):
                self.slurm('scontrol', 'update', f'nodename={node}', 'state=resume')
        until('ready nodes', lambda: set(self.slurm('sinfo', '-h', '-N', '-o', '%t').split()) == {'idle'}, 90, 0.3)

    # What runs there

    def processes(self, part):
        """The processes of a node or host which it does not have by itself: number and command line."""
        first = self._noted(part)
        if not first:
            return {}
        own = {first, self._noted(part.replace('node', 'slurmd').replace('host', 'sshd'))}
        space, inside = namespace(first), set()
        for pid in filter(str.isdigit, os.listdir('/proc')):
            if namespace(pid) == space:
                # A sandbox has a space of its own.
                inside |= {int(pid), *below(int(pid))}
        found = {}
        for pid in sorted(inside):
            words = command(pid)
            if words and str(pid) not in own and words[:2] != ['sleep', '3600']:
                found[pid] = ' '.join(words)
        return found

    def _noted(self, part):
        """What script/cluster has noted as the process of a part."""
        try:
            return (self.folder / 'pids' / part).read_text().split()[0]
        except (OSError, IndexError):
            return None

    def named(self, part, word):
        """The processes of a node or host whose program has this name."""
        return [pid for pid, line in self.processes(part).items() if os.path.basename(line.split(' ', 1)[0]) == word]

    def left(self):
        """What is left of runs that have ended, as texts. The server keeps a shared connection for a while."""
        found = [f'{part}: {line[:90]}' for part in NODES + HOSTS for line in self.processes(part).values()
                 if not line.startswith('sshd:')]
        jobs = self.slurm('squeue', '-h', '-o', '%i %T')
        return found + [f'job {line}' for line in jobs.splitlines()]

    def workspaces(self):
        """Workspaces on machines, as texts. Those of a killed agent are removed by the next one."""
        found = []
        for host in HOSTS:
            folders = self.inside(host, 'ls /root/.cache/pipectl-agent/runs 2>/dev/null', check=False)
            found += [f'{host}: workspace {name}' for name in folders.split()]
        runs = self.home / '.cache/pipectl-agent/runs'
        found += [f'nodes: workspace {path.name}' for path in (runs.iterdir() if runs.exists() else [])]
        return found


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def namespace(pid):
    try:
        return os.readlink(f'/proc/{pid}/ns/pid')
    except OSError:
        return None


def command(pid):
    try:
        words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')[:-1]
    except OSError:
        return []
    return [word.decode(errors='replace') for word in words]


def below(pid):
    """A process's children, their children, and so on."""
    found = []
    try:
        tasks = os.listdir(f'/proc/{pid}/task')
    except OSError:
        return found
    for task in tasks:
        try:
            children = pathlib.Path(f'/proc/{pid}/task/{task}/children').read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            found += [child, *below(child)]
    return found
