# The short form of the escape suite: each call that the kernel must refuse to a step, and each file that a step must not
# see. Prints `refused NAME` or `ESCAPED NAME` for each, and `done` at the end.
for name in unshare-user clone-user clone3-user unshare-all ptrace-attach ptrace-seize vm-read vm-write pidfd-getfd \
    keyctl add-key int80 kcmp mount-tmpfs mount-over mount-writable mount-setattr mount-proc chroot fsopen open-tree umount \
    bpf perf io-uring userfaultfd by-handle setns fanotify packet xdp raw syslog mknod sethostname setuid setgroups \
    settime kexec init-module swapon iopl mount-cgroup pivot-root x32 vsock alg key-socket ptrace-init; do
    if said=$(./probe "$name" 2>&1); then echo "ESCAPED $name: $said"; else echo "refused $name: $said"; fi
done
try() {
    name=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "ESCAPED $name"; else echo "refused $name"; fi
}
try shadow cat /etc/shadow
try homes sh -c 'ls /home/*/project /root/project'
try state sh -c 'ls -d /home/*/.local /root/.local'
try machine ls /root/machines
try system touch /usr/written
try settings touch /etc/written
try groups sh -c 'echo $$ > /sys/fs/cgroup/cgroup.procs'
try bus ls /run/dbus/system_bus_socket /run/systemd/private
try sysrq sh -c 'echo h > /proc/sysrq-trigger'
try core sh -c 'echo /tmp/x > /proc/sys/kernel/core_pattern'
try disk head -c 1 /dev/vda
try network sh -c 'cat /proc/net/dev | grep -v lo: | grep -q :.*[0-9]'
try parent sh -c 'for p in /proc/[0-9]*; do grep -q "pipectl.watc[h]" $p/cmdline && exit 0; done; exit 1'
echo done
