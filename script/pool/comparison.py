"""The demo on one machine and on others: what must be equal but for times, durations and places."""
import json
import os
import pathlib
import re
import subprocess
import sys

DEMO = pathlib.Path(__file__).resolve().parent.parent / 'demo'
# Values of a report that are times or places, or follow from them: a proof's key has the machine in it, only the daemon's
# machine has warm workspaces, and an archive of the sources has the workflows, which name the place.
OTHER = {
    'at', 'base', 'box', 'bytes', 'cold', 'createdAt', 'duration', 'endedAt', 'key', 'machine', 'seconds', 'sha256',
    'startedAt'}
# The same as lines of texts.
LINES = re.compile(r'  (workspace|when|steps on|machine) |- workspace: |- steps on |- .*, took <duration>')
WRAPPER = '''#!/bin/sh
mkdir -p "$PIPECTL_HOME"
chmod 700 "$PIPECTL_HOME"
[ -e "$PIPECTL_HOME/machines.json" ] || [ ! -e "{machines}" ] || cp -p "{machines}" "{keys}" "$PIPECTL_HOME/"
if [ "$1" = init ]; then
    "{pipectl}" "$@" || exit
    exec sed -i '$ s/^}}$/}}.on({place})/' workflows/test.swift workflows/release.swift
fi
exec "{pipectl}" "$@"
'''


def show_demo(work, box, name, place, machines):
    """Shows the demo with workflows that ask for a place, and returns its state folder, its repository and what it said.

    - machines: the state folder that has the list of machines; a folder without one for none.
    """
    folder = work / name
    folder.mkdir()
    program = folder / 'pipectl'
    program.write_text(WRAPPER.format(
        pipectl=box.pipectl, machines=machines / 'machines.json', keys=machines / 'known_hosts', place=place))
    program.chmod(0o755)
    dates = {'GIT_AUTHOR_DATE': '2026-01-02T03:04:05Z', 'GIT_COMMITTER_DATE': '2026-01-02T03:04:05Z'}
    done = subprocess.run(
        [DEMO, program], env={**box.environment, **dates, 'TMPDIR': str(folder)}, cwd=folder, capture_output=True, text=True,
        check=False)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:], file=sys.stderr)
        raise SystemExit(f'script/demo ended with {done.returncode} ({name})')
    [demo] = folder.glob('pipectl-demo.*')
    return Shown(box, demo)


class Shown:
    def __init__(self, box, demo):
        self.box, self.repository = box, demo / 'greeting'
        self.environment = {**box.environment, 'PIPECTL_HOME': str(demo / 'state')}
        self.hashes = {}
        self.runs = sorted(json.loads(self.call('runs', '--json', '--limit', '100')), key=lambda run: run['id'])

    def call(self, *words):
        return subprocess.run(
            [self.box.pipectl, *words], cwd=self.repository, env=self.environment, capture_output=True, text=True,
            check=True).stdout

    @property
    def machines(self):
        """Where each run was; a conflict has no steps."""
        reports = map(self.report, self.runs)
        return [report.get('machine', 'here') if report['steps'] else 'nowhere' for report in reports]

    def report(self, run):
        return json.loads(self.call('report', str(run['id']), '--format', 'json'))

    def texts(self):
        """What must be equal, by name."""
        found = {'verdicts': '\n'.join(f"{run['id']} {run['workflow']} {run['verdict']}" for run in self.runs)}
        for run in self.runs:
            number = str(run['id'])
            report = json.dumps(plain(self.report(run)), indent=1, sort_keys=True, ensure_ascii=False)
            found[f'run {number}: JSON'] = self.without_hashes(report)
            for form in ('text', 'markdown', 'junit'):
                text = self.without_hashes(without_times(self.call('report', number, '--format', form)))
                lines = [line for line in text.splitlines() if not LINES.match(line)]
                # Tests run at the same time, so the order in which they are told about is not always the same.
                found[f'run {number}: {form}'] = '\n'.join(sorted(lines))
        return found

    def without_hashes(self, text):
        """Numbers commits in the order in which they are named: their workflows name another place."""
        def number(match):
            return '<commit %d>' % self.hashes.setdefault(match[0][:7], len(self.hashes) + 1)
        return re.sub(r'\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b', number, text)


def plain(value):
    if isinstance(value, dict):
        if 'tests' in value and isinstance(value['tests'], list):
            value = {**value, 'tests': sorted(value['tests'], key=lambda test: (test['suite'], test['name']))}
        return {key: plain(inner) for key, inner in value.items() if key not in OTHER}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return without_times(value) if isinstance(value, str) else value


def without_times(text):
    for pattern, instead in (
            (r'\b\d\d? [A-Z][a-z]{2} 20\d\d, \d\d:\d\d:\d\d UTC', '<time>'), (r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?', '<time>'),
            (r'\b[0-9a-f]{64}\b', '<digest>'), (r' *\b\d+(\.\d+)?(e-\d+)? ?(ms|s|seconds|min|m)\b', ' <duration>'),
            (r'\b(time|timestamp)="[^"]*"', r'\1="<time>"'),
            (r' on (host\d|cluster)\b', '')):
        text = re.sub(pattern, instead, text)
    return text


def differences(one, other):
    """The names of texts that differ, with the first lines that do."""
    found = {}
    for name in sorted(one.keys() | other.keys()):
        here, there = one.get(name, '').splitlines(), other.get(name, '').splitlines()
        if here != there:
            pairs = [(a, b) for a, b in zip(here + [''] * len(there), there + [''] * len(here)) if a != b]
            found[name] = pairs[:3]
    return found
