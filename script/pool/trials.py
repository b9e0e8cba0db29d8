"""Makes one fault after the other, and judges what came of it."""
import dataclasses
import sys
import time

from box import Box
from cluster import HOSTS, Cluster, Problem, until
from faults import MOVED, RELEASES, WORKFLOWS, Trial
from meeting import LOG, Meeting

BRANCHES = ['ssh', 'slurm', 'ssh-release', 'slurm-release']


@dataclasses.dataclass
class Row:
    fault: str
    workflow: str
    verdict: str = '–'
    begun: int = 0
    seconds: float = 0
    # Codes for the sums, and what a person is told.
    problems: dict = dataclasses.field(default_factory=dict)

    def line(self):
        said = '; '.join(f'**{code}**: {text}' for code, text in self.problems.items()).replace('|', '/').replace('\n', ' ')
        return f'| {self.fault} | {self.workflow} | {self.verdict} | {self.begun} | {self.seconds:.0f} | {said} |'

    def cell(self):
        again = ', again' if self.begun > 1 else ''
        wrong = f' **{", ".join(self.problems)}**' if self.problems else ''
        return f'{self.verdict}{again}, {self.seconds:.0f} s{wrong}'


class Bench:
    def __init__(self, pipectl, work, cut, moved=False):
        self.pipectl, self.work, self.cut = pipectl, work, cut
        self.workflows = MOVED if moved else WORKFLOWS

    def __enter__(self):
        self.cluster = Cluster(self.work)
        self.cluster.__enter__()
        try:
            self.meeting = Meeting(self.cluster)
            self.box = Box(self.pipectl, self.work, self.cluster)
            self.box.cut = self.cut
            self.box.make({'workflows/x.swift': self.workflows, 'step.sh': self.meeting.step})
            for branch in BRANCHES:
                self.box.git('branch', branch)
            self.box.add_machines()
            self.box.start()
            self.box.until_said('baseline')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if hasattr(self, 'box'):
                self.box.stop()
        finally:
            self.cluster.__exit__()
            if hasattr(self, 'meeting'):
                self.meeting.close()

    def trial(self, fault):
        row = Row(fault.name, fault.workflow)
        trial = Trial(self.box, self.meeting, fault.workflow, fault.name)
        begun = time.monotonic()
        try:
            fault.make(trial)
            trial.go()
            run = self.box.verdict(trial.commit, fault.workflow, fault.seconds)
            row.verdict = run['verdict']
            row.seconds = time.monotonic() - begun
            self._judge(row, fault, trial, run)
        except Exception as problem:  # noqa: BLE001: the other faults are made all the same
            row.seconds = time.monotonic() - begun
            row.problems['lost'] = str(problem)
        finally:
            for undo in trial.undo:
                self._quietly(undo)
            if trial.commit:
                trial.go()
                row.begun = len(self.meeting.begun(trial.commit))
        self._after(row)
        return row

    @staticmethod
    def _quietly(body):
        try:
            body()
        except Exception as problem:  # noqa: BLE001: a fault may have undone itself
            print(f'(undo: {problem})', file=sys.stderr)

    def _judge(self, row, fault, trial, run):
        if run['verdict'] not in fault.verdicts:
            row.problems['other'] = f'{run["verdict"]}: {run.get("reason", "")}'
        same = [one for one in self.box.runs() if one['head'] == trial.commit and one['workflow'] == fault.workflow]
        if len(same) != 1:
            row.problems['doubled'] = f'{len(same)} runs'
        self.box.report(run)
        if run['verdict'] == 'passed':
            log = self.box.call('logs', str(run['id']), 'work')
            if log != LOG:
                row.problems['doubled' if len(log) > len(LOG) else 'lost'] = f'the log is {log!r}'
        begun = len(self.meeting.begun(trial.commit))
        if fault.workflow in RELEASES and begun > 1:
            row.problems['release twice'] = f'the step began {begun} times'

    def sweep(self):
        """A run on each machine, after which nothing of the earlier ones is there."""
        row = Row('(none) at last, one on each machine', 'all')
        begun = time.monotonic()
        for workflow, other in (('ssh', 'host2'), ('ssh', 'host1'), ('slurm', 'host1')):
            self.box.call('machines', 'drain', other)
            commit = self.box.push(workflow, f'not on {other}')
            self.meeting.let_go(commit)
            row.verdict = self.box.verdict(commit, workflow)['verdict']
            row.begun += len(self.meeting.begun(commit))
            self.box.forgive()
        row.seconds = time.monotonic() - begun
        try:
            until('clean folders', lambda: not self.cluster.workspaces(), 20)
        except Problem:
            row.problems['left'] = '; '.join(self.cluster.workspaces())
        return row

    def _after(self, row):
        """Makes the next fault start from a healthy cluster, and counts what is left."""
        try:
            until('clean machines', lambda: not self.cluster.left(), 60, 0.5)
        except Problem:
            row.problems['left'] = '; '.join(self.cluster.left())
        if self.box.process.poll() is not None:
            row.problems['other'] = 'the daemon has ended'
            self.box.start()
        for host in HOSTS:
            self.cluster.mend(host)
        self.cluster.settle()
        self.box.forgive()
