"""Faults of what the agent keeps on its machine, people, and two faults at once."""
import time

from cluster import kill
from faults import ALL, SLURM, SLURM_RELEASE, SSH, SSH_RELEASE, TESTS, fault


@fault('packs of the mirror are cut in half', *TESTS)
def half_packs(trial):
    trial.everywhere('find $A/mirrors -name "*.pack" -exec truncate -s 40 {} +')
    trial.begin()


@fault('objects of the mirror are missing', *TESTS)
def no_objects(trial):
    trial.everywhere('find $A/mirrors -path "*/objects/*" -type f -delete')
    trial.begin()


@fault('the mirror has no HEAD and no configuration', *TESTS)
def no_head(trial):
    trial.everywhere('find $A/mirrors -maxdepth 2 \\( -name HEAD -o -name config \\) -delete')
    trial.begin()


@fault("the agent's folder is removed before the run", *TESTS)
def no_folder(trial):
    trial.everywhere('rm -rf $A')
    trial.begin()


@fault("the agent's folder is removed while the step runs", *TESTS, verdicts=('passed', 'infrastructure'))
def folder_goes(trial):
    trial.begin()
    trial.everywhere('rm -rf $A')


@fault('the agent itself is damaged', *TESTS)
def bad_agent(trial):
    trial.everywhere('for file in ${A%-agent}/agent-*/pipectl-agent; do truncate -s 1000 "$file"; done')
    trial.begin()


@fault('the agent itself is removed while the step runs', *TESTS)
def no_agent(trial):
    trial.begin()
    trial.everywhere('rm -rf ${A%-agent}')


# People


@fault('a person cancels the run', *ALL, verdicts=('cancelled',))
def cancelled(trial):
    visit = trial.begin()
    trial.box.call('cancel', str(visit.run))


@fault('the machine is drained', *TESTS)
def drained(trial):
    visit = trial.begin()
    trial.box.call('machines', 'drain', visit.machine)


@fault('the machine is removed', *TESTS)
def removed(trial):
    visit = trial.begin()
    trial.undo.append(trial.box.add_machines)
    trial.box.call('machines', 'remove', visit.machine)


# Two at once


@fault('two: kill -9 of the daemon and the agent', *ALL)
def daemon_and_agent(trial):
    found = trial.named(trial.begin(), 'pipectl-agent')
    trial.box.kill()
    for pid in found:
        kill(pid)
    trial.box.start()


@fault('two: kill -9 of the daemon, and the network is cut for 60 s', SSH, SSH_RELEASE)
def daemon_and_cut(trial):
    visit = trial.begin()
    trial.undo.append(lambda: trial.cluster.mend(visit.machine))
    trial.cluster.cut(visit.machine)
    trial.box.kill()
    trial.box.start()
    trial.go()
    time.sleep(60)
    trial.cluster.mend(visit.machine)


@fault('two: kill -9 of the daemon, and the machine crashes', *ALL)
def daemon_and_crash(trial):
    place = trial.place(trial.begin())
    trial.box.kill()
    trial.cluster.crash(place)
    trial.box.start()


@fault('two: kill -9 of the daemon and slurmctld within its 5 s', SLURM, SLURM_RELEASE)
def daemon_and_controller(trial):
    trial.begin()
    trial.box.kill()
    trial.cluster.crash('slurmctld')
    trial.box.start()


@fault('two: both hosts crash', SSH)
def both_hosts(trial):
    trial.begin()
    for host in ('host1', 'host2'):
        trial.cluster.kill(host)
    trial.cluster.run('start')
