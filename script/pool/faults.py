"""What a fault is: it is made while a step runs on another machine, or before it begins."""
import dataclasses
import os
import typing

from cluster import Problem, below, command

FAULTS = []


@dataclasses.dataclass
class Fault:
    name: str
    make: typing.Callable
    workflow: str
    verdicts: tuple
    seconds: int


def fault(name, *workflows, verdicts=None, seconds=240):
    """Adds a fault, once for each workflow. What `make` starts with is a run whose step has begun."""
    def add(make):
        for workflow in workflows:
            ends = verdicts or (('infrastructure',) if workflow in RELEASES else ('passed',))
            FAULTS.append(Fault(name, make, workflow, ends, seconds))
        return make
    return add


# Some seconds each; CI makes these.
SHORT = ('(none)', 'kill -9 of the daemon', 'kill -9 of the agent')
# Workflows: where, and whether the steps may run again.
SSH, SLURM, SSH_RELEASE, SLURM_RELEASE = 'ssh', 'slurm', 'ssh-release', 'slurm-release'
RELEASES = (SSH_RELEASE, SLURM_RELEASE)
TESTS, ALL = (SSH, SLURM), (SSH, SLURM, SSH_RELEASE, SLURM_RELEASE)
WORKFLOWS = '''import Pipeline

func work(_ name: String, _ trigger: Trigger, _ label: String) -> Workflow {
    Workflow(name, on: trigger) {
        // MOVED
        Step("work", run: "bash step.sh").neverProved().network(.allowed).on(.label(label))
    }
}
@main struct Workflows: WorkflowSet {
    static let workflows = [
        work("ssh", .push(to: "ssh"), "host"), work("slurm", .push(to: "slurm"), "node"),
        work("ssh-release", .merge(into: "ssh-release"), "host"),
        work("slurm-release", .merge(into: "slurm-release"), "node"),
    ]
}
'''


# A run that begins on the daemon's machine, which is not what its second step asks for.
MOVED = WORKFLOWS.replace(
    '// MOVED', 'let make = Step("make", run: "echo 1 > made").neverProved().outputs("made")').replace(
    'Step("work", run: "', 'Step("work", needs: make, run: "test -e made; ')


class Trial:
    """One fault: its commit, and what the fault may reach."""

    def __init__(self, box, meeting, workflow, name):
        self.box, self.cluster, self.meeting = box, box.cluster, meeting
        self.workflow, self.name, self.commit, self.undo = workflow, name, None, []

    def push(self):
        self.commit = self.box.push(self.workflow, self.name)

    def begin(self):
        """Pushes, and waits for the step."""
        self.push()
        return self.meeting.arrival(self.commit)

    def go(self):
        self.meeting.let_go(self.commit)

    def place(self, visit):
        """The node or host on which a step is."""
        if visit.machine != 'cluster':
            return visit.machine
        return self.cluster.slurm('squeue', '-h', '-t', 'running', '-o', '%N').split()[0]

    def named(self, visit, word):
        found = self.cluster.named(self.place(visit), word)
        if not found:
            raise Problem(f'there is no {word} on {self.place(visit)}')
        return found

    def inside(self, line):
        """The same on both hosts."""
        for host in ('host1', 'host2'):
            self.cluster.inside(host, line)

    def everywhere(self, line):
        """A line of a shell on both hosts, and once for all nodes, which share a home; $A is the agent's folder."""
        self.inside(f'A=/root/.cache/pipectl-agent; {line}')
        self.cluster.inside('node1', f'A={self.cluster.home}/.cache/pipectl-agent; {line}')

    def clients(self, program):
        """What the daemon has started on this machine to reach others."""
        return [pid for pid in below(self.box.process.pid) if os.path.basename((command(pid) or [''])[0]) == program]

    def shared_connections(self):
        sockets = str(self.box.work / 'home' / 'ssh')
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            line = ' '.join(command(int(pid)))
            if '[mux]' in line and sockets in line:
                found.append(int(pid))
        return found
