"""A virtual machine with sshd, and its administrator, who reaches it through the one port that leads there."""
import json
import os
import pathlib
import socket
import subprocess
import time

from cluster import Problem, until

# Seconds until it must answer. Without KVM it is slow, and it may share this machine with other work.
PATIENCE = 600


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as one:
        return one.getsockname()[1]


class Virtual:
    """QEMU with a network that has this port and nothing else; use it as a context."""

    def __init__(self, options):
        self.options, self.port = options, free_port()
        self.process = self.bridge = self.boot = None
        self.monitor, self.known = options.work / 'monitor', options.work / 'administrator.known'
        self.key = (options.work / 'host.pub').read_text().split()[:2]
        self.known.write_text(f'[127.0.0.1]:{self.port} {" ".join(self.key)}\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (self.bridge, self.process):
            self._end(one)

    @staticmethod
    def _end(one):
        if one is not None and one.poll() is None:
            one.kill()
            one.wait()

    # Its power

    def start(self):
        """Boots it; returns what runs its instructions. A KVM may be there and not work."""
        try:
            os.close(os.open('/dev/kvm', os.O_RDWR))
            self._power('kvm')
            self._until_up(60)
            return 'KVM'
        except (OSError, Problem):
            self.__exit__()
        self._power('tcg')
        self._until_up(PATIENCE)
        return 'emulated'

    def _power(self, accelerator):
        one = self.options
        self.monitor.unlink(missing_ok=True)
        # Emulated processors wait for each other, for very long where this machine is busy.
        processors = 2 if accelerator == 'kvm' else 1
        words = [
            'setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', '-accel', accelerator, '-cpu', 'max', '-m', '1536',
            '-smp', f'{processors}', '-display', 'none', '-kernel', one.kernel, '-initrd', one.initrd,
            '-append', 'root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0',
            # What it has told its system is written is in a file of this machine, as on a disk that has its power.
            '-drive', f'file={one.disk},format=raw,if=virtio,cache=writeback', '-serial', f'file:{one.console}',
            '-nic', f'user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22',
            '-qmp', f'unix:{self.monitor},server=on,wait=off']
        # A KVM that does not work says so.
        with open(one.work / 'qemu.log', 'ab') as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log)

    def lose_power(self):
        """Resets it when the journal of its file system is on the disk, but not all content of new files: the worst
        moment for a file that was not flushed."""
        self.admin('touch /root/flushed && sync /root/flushed')
        self._reset()
        self._until_up(PATIENCE)

    def _reset(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(30)
            one.connect(str(self.monitor))
            lines = one.makefile('rw')
            lines.readline()
            for command in ('qmp_capabilities', 'system_reset'):
                lines.write(json.dumps({'execute': command}) + '\n')
                lines.flush()
                while 'return' not in (answer := json.loads(lines.readline())):
                    if 'error' in answer:
                        raise Problem(f'QEMU does not {command}: {answer}')

    def reboot(self):
        """Reboots it without asking what runs there."""
        # The connection breaks with it, or is silent from then on.
        one = subprocess.Popen(self._ssh('reboot -f'), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            one.wait(30)
        except subprocess.TimeoutExpired:
            self._end(one)
        self._until_up(PATIENCE)

    def _until_up(self, seconds):
        """Waits for another boot than the last one."""
        def look():
            if self.process.poll() is not None:
                said = (self.options.work / 'qemu.log').read_text(errors='replace')
                raise Problem(f'QEMU has ended with {self.process.returncode}: {said}')
            try:
                boot = self.admin('cat /proc/sys/kernel/random/boot_id', patience=15)
            except (Problem, subprocess.TimeoutExpired):
                return None
            return boot if boot != self.boot else None
        self.boot = until('machine that answers', look, seconds, 1)

    # Its administrator

    def _ssh(self, *words, patience=60):
        return ['ssh', '-F', 'none', '-T', '-i', str(self.options.work / 'administrator'), '-p', str(self.port),
                *(word for option in (
                    'IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=yes', 'LogLevel=ERROR',
                    f'UserKnownHostsFile={self.known}', f'ConnectTimeout={patience}', 'ServerAliveInterval=20',
                    'ExitOnForwardFailure=yes') for word in ('-o', option)),
                'root@127.0.0.1', *words]

    def admin(self, line, text=None, patience=60):
        """Runs a line of a shell there as root."""
        done = subprocess.run(self._ssh(line, patience=patience), input=text or '', capture_output=True, text=True,
                              timeout=patience + 60, check=False)
        if done.returncode != 0:
            raise Problem(f'`{line}` there ended with {done.returncode}: {done.stderr.strip()}')
        return done.stdout.strip()

    def tunnel(self, port):
        """Makes a port of this machine's loopback one of the machine's."""
        self._end(self.bridge)
        self.bridge = None

        def look():
            if self.bridge is None or self.bridge.poll() is not None:
                self.bridge = subprocess.Popen(
                    [*self._ssh(), '-N', '-R', f'127.0.0.1:{port}:127.0.0.1:{port}'], stdin=subprocess.DEVNULL)
            return f':{port} ' in self.admin('ss -Hltn')
        until('bridge', look, 240, 1)

    def fingerprints(self):
        """Of its keys, by the command of the page."""
        lines = self.admin('cat /etc/ssh/ssh_host_*_key.pub | ssh-keygen -lf -')
        return [line.split()[1] for line in lines.splitlines()]

    def received(self):
        """Bytes that its network has brought since it booted."""
        return int(self.admin('cat /sys/class/net/e*/statistics/rx_bytes'))
