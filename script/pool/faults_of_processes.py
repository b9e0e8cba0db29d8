"""Faults of the daemon, of the agent, and of what carries their connection."""
import signal
import time

from cluster import Problem, kill, until
from faults import ALL, RELEASES, SLURM, SLURM_RELEASE, SSH, SSH_RELEASE, TESTS, fault


@fault('(none)', *TESTS)
@fault('(none)', *RELEASES, verdicts=('passed',))
def nothing(trial):
    trial.begin()


@fault('kill -9 of the daemon', SSH, SLURM, SSH_RELEASE)
@fault('kill -9 of the daemon', SLURM_RELEASE, verdicts=('passed',))
def daemon(trial):
    trial.begin()
    trial.box.kill()
    trial.box.start()


@fault('kill -9 of the daemon, five times in a run', *TESTS, verdicts=('passed', 'infrastructure'))
def daemon_often(trial):
    trial.begin()
    for number in range(5):
        trial.box.kill()
        trial.box.start()
        # What comes next depends on the moment: each is another one.
        time.sleep(0.4 * number)


@fault('kill -9 of the daemon before the step', *TESTS)
@fault('kill -9 of the daemon before the step', *RELEASES, verdicts=('passed', 'infrastructure'))
def daemon_early(trial):
    trial.push()
    time.sleep(0.3)
    trial.box.kill()
    trial.box.start()


@fault('SIGTERM of the daemon, which waits for the run', SSH, SLURM)
def daemon_ends(trial):
    trial.begin()
    trial.box.process.send_signal(signal.SIGTERM)
    trial.go()
    trial.box.process.wait(60)
    trial.box.start()


@fault('SIGSTOP of the daemon for 40 s', SSH, SLURM)
def daemon_stopped(trial):
    trial.begin()
    kill(trial.box.process.pid, signal.SIGSTOP)
    trial.go()
    time.sleep(40)
    kill(trial.box.process.pid, signal.SIGCONT)


@fault('kill -9 of the agent', *ALL)
def agent(trial):
    for pid in trial.named(trial.begin(), 'pipectl-agent'):
        kill(pid)


@fault('SIGSTOP of the agent for 60 s', SSH, SLURM)
def agent_stopped(trial):
    found = trial.named(trial.begin(), 'pipectl-agent')
    for pid in found:
        kill(pid, signal.SIGSTOP)
    trial.go()
    time.sleep(60)
    for pid in found:
        kill(pid, signal.SIGCONT)


@fault('kill -9 of ssh', SSH, SSH_RELEASE)
def ssh_client(trial):
    trial.begin()
    for pid in trial.clients('ssh'):
        kill(pid)


@fault('kill -9 of the shared connection', SSH, SSH_RELEASE)
def shared(trial):
    trial.begin()
    found = trial.shared_connections()
    if not found:
        raise Problem('there is no shared connection')
    for pid in found:
        kill(pid)


@fault('kill -9 of the session of sshd there', SSH)
def session(trial):
    visit = trial.begin()
    for pid, line in trial.cluster.processes(visit.machine).items():
        if line.startswith('sshd:'):
            kill(pid)


@fault('kill -9 of srun', SLURM)
@fault('kill -9 of srun', SLURM_RELEASE, verdicts=('passed',))
def srun(trial):
    trial.begin()
    for pid in trial.clients('srun'):
        kill(pid)


@fault('kill -9 of slurmctld within its 5 s', SLURM, SLURM_RELEASE, verdicts=('passed', 'infrastructure'))
def controller_early(trial):
    trial.begin()
    trial.cluster.crash('slurmctld')


@fault('kill -9 of slurmctld within its 5 s, before the step', SLURM)
def controller_at_once(trial):
    trial.push()
    until('allocation', lambda: trial.cluster.slurm('squeue', '-h', '-o', '%i'), 30)
    trial.cluster.crash('slurmctld')


@fault('kill -9 of slurmctld after them', SLURM)
@fault('kill -9 of slurmctld after them', SLURM_RELEASE, verdicts=('passed',))
def controller_late(trial):
    trial.begin()
    # Slurm writes down what it knows every five seconds.
    time.sleep(9)
    trial.cluster.crash('slurmctld')


@fault('slurmctld is away for 20 s', SLURM)
def controller_away(trial):
    trial.begin()
    time.sleep(9)
    trial.cluster.kill('slurmctld')
    trial.go()
    time.sleep(20)
    trial.cluster.run('start')


@fault('slurmctld is away when the run begins', SLURM)
def controller_missing(trial):
    trial.cluster.kill('slurmctld')
    trial.push()
    time.sleep(8)
    trial.cluster.run('start')


@fault('kill -9 of slurmd', SLURM)
@fault('kill -9 of slurmd', SLURM_RELEASE, verdicts=('passed',))
def slurmd(trial):
    place = trial.place(trial.begin())
    trial.cluster.crash(place.replace('node', 'slurmd'))


@fault('kill -9 of slurmstepd', SLURM)
def slurmstepd(trial):
    visit = trial.begin()
    found = [pid for pid, line in trial.cluster.processes(trial.place(visit)).items() if line.startswith('slurmstepd')]
    if not found:
        raise Problem('there is no slurmstepd')
    for pid in found:
        kill(pid)


@fault('kill -9 of munged', SLURM)
def munged(trial):
    trial.begin()
    trial.cluster.crash('munged')


@fault('somebody cancels the allocation', SLURM)
# A step that is short enough ends by itself within Slurm's KillWait.
@fault('somebody cancels the allocation', SLURM_RELEASE, verdicts=('passed', 'infrastructure'))
def cancelled_there(trial):
    trial.begin()
    trial.cluster.slurm('scancel', *trial.cluster.slurm('squeue', '-h', '-o', '%i').split())
