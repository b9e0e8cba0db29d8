"""Faults of machines: their networks, disks, clocks and keys."""
import time

from cluster import Problem, kill, until
from faults import ALL, SSH, SSH_RELEASE, TESTS, fault


@fault('the machine crashes', *ALL)
def crash(trial):
    trial.cluster.crash(trial.place(trial.begin()))


@fault('the machine crashes before the step', *TESTS)
def crash_early(trial):
    trial.push()
    if trial.workflow == SSH:
        place = until('session', lambda: next(
            (host for host in ('host1', 'host2') if trial.cluster.named(host, 'pipectl-agent')), None), 30, 0.01)
    else:
        place = until('allocation', lambda: trial.cluster.slurm('squeue', '-h', '-t', 'running', '-o', '%N'), 30)
    trial.cluster.crash(place)


@fault('the network is cut for 5 s', SSH)
@fault('the network is cut for 5 s', SSH_RELEASE, verdicts=('passed',))
def short_cut(trial):
    visit = trial.begin()
    trial.undo.append(lambda: trial.cluster.mend(visit.machine))
    trial.cluster.cut(visit.machine)
    trial.go()
    time.sleep(5)
    trial.cluster.mend(visit.machine)


@fault('the network is cut for long', SSH, SSH_RELEASE, seconds=600)
def long_cut(trial):
    visit = trial.begin()
    trial.undo.append(lambda: trial.cluster.mend(visit.machine))
    trial.cluster.cut(visit.machine)
    trial.go()
    trial.box.verdict(trial.commit, trial.workflow)
    time.sleep(max(0, trial.box.cut - 45))
    trial.cluster.mend(visit.machine)


@fault('the network is away when the run begins', SSH)
def no_network(trial):
    trial.undo.append(lambda: trial.cluster.mend('host1'))
    trial.cluster.cut('host1')
    trial.begin()
    trial.cluster.mend('host1')


@fault('the disk there is full before the run', SSH)
def full(trial):
    trial.undo.append(lambda: trial.cluster.inside('host1', 'mount -o remount,size=2g /root'))
    trial.cluster.inside('host1', 'mount -o remount,size=$(du -sk /root | cut -f 1)k /root')
    trial.begin()


@fault('the disk there is full while the step writes', SSH, verdicts=('passed', 'infrastructure', 'failed'))
def full_later(trial):
    visit = trial.begin()
    trial.undo.append(lambda: trial.cluster.inside(visit.machine, 'mount -o remount,size=2g /root'))
    trial.cluster.inside(visit.machine, 'mount -o remount,size=$(($(du -sk /root | cut -f 1) + 64))k /root')
    visit.go('head -c 4000000 /dev/zero >big')


@fault('the disk there can only be read', SSH)
def read_only(trial):
    trial.undo.append(lambda: trial.cluster.inside('host1', 'mount -o remount,rw /root'))
    trial.cluster.inside('host1', 'mount -o remount,ro /root')
    trial.begin()


# Clocks and keys


@fault('the clock of the daemon goes forward by a day and back by two', *TESTS)
def daemon_clock(trial):
    trial.begin()
    trial.undo.append(lambda: trial.box.move_clock(0))
    trial.box.move_clock(86_400)
    time.sleep(2)
    trial.box.move_clock(-86_400)
    time.sleep(2)


@fault('the clock of the machine is a year ahead, and goes back by two', SSH)
def machine_clock(trial):
    library, page = trial.box.clock()['LD_PRELOAD'], '/root/clock'
    trial.undo.append(lambda: trial.inside('rm -f /root/.bashrc /root/clock'))
    variables = f'LD_PRELOAD={library} FAULT_CLOCK={page}'
    year = 365 * 86_400
    trial.inside(f"echo 'export {variables}' >/root/.bashrc; {_clock(page, year)}")
    trial.begin()
    trial.inside(_clock(page, -year))


def _clock(page, seconds):
    text = ''.join(f'\\{byte:03o}' for byte in seconds.to_bytes(8, 'little', signed=True))
    return f"printf '{text}' | dd of={page} conv=notrunc status=none"


@fault('the key of the host has changed', SSH)
def other_host_key(trial):
    ssh = trial.cluster.folder / 'ssh'
    def restart(line):
        trial.cluster.inside('host1', line)
        trial.cluster.crash('sshd1')
    trial.undo.append(lambda: restart(f'umount {ssh}/host1'))
    restart(f'mount --bind {ssh}/host2 {ssh}/host1')
    for pid in trial.shared_connections():
        kill(pid)
    visit = trial.begin()
    if visit.machine == 'host1':
        raise Problem('it used a host with another key')


@fault('our key is refused', SSH)
def refused(trial):
    key = trial.cluster.folder / 'ssh' / 'client.pub'
    trial.undo.append(lambda: trial.cluster.inside('host1', f'umount {key}'))
    trial.cluster.inside('host1', f'mount --bind /dev/null {key}')
    for pid in trial.shared_connections():
        kill(pid)
    trial.begin()
