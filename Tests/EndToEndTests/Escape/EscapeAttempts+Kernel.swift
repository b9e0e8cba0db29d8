/// System calls that no build needs; each name is one of `probe.c`.
enum KernelAttempts {
    private static func probes(_ name: String, _ control: EscapeAttempt.Control, _ names: [String]) -> EscapeAttempt {
        EscapeAttempt(name, control: control, names.map { "try \($0) @PROBE@ \($0)" }.joined(separator: "\n"))
    }

    static let all = [
        // A kernel with default settings allows these to every user: only the filter refuses them.
        probes("namespaces", .anyone, ["unshare-user", "clone-user", "clone3-user", "unshare-all"]),
        probes("tracing", .anyone, ["ptrace-attach", "ptrace-seize", "vm-read", "vm-write", "pidfd-getfd"]),
        probes("keys", .anyone, ["keyctl", "add-key"]),
        probes("other-tables", .anyone, ["int80", "kcmp"]),
        // Root may make these calls, but steps are not root even if the daemon is.
        probes(
            "mounting", .root,
            [
                "mount-tmpfs", "mount-over", "mount-writable", "mount-setattr", "mount-proc", "chroot", "fsopen",
                "open-tree", "umount",
            ]),
        probes("reaching-in", .root, ["bpf", "perf", "io-uring", "userfaultfd", "by-handle", "setns", "fanotify"]),
        probes("sockets", .root, ["packet", "xdp", "raw"]),
        probes("machine", .root, ["syslog", "mknod", "sethostname"]),
        probes("ranks", .root, ["setuid", "setgroups"]),
        probes("terminal", .root, ["tiocsti"]),
        probes("line-disciplines", .anyone, ["tiocsetd"]),
        // Not tried outside: they would change this machine, or its kernel lacks them.
        probes(
            "machine-wide", .none,
            [
                "settime", "kexec", "init-module", "swapon", "iopl", "mount-cgroup", "pivot-root", "x32", "vsock",
                "alg",
                "key-socket",
            ]),
        // The filter refuses these on every kernel: another kernel may support more of them.
        probes("filtered", .none, ["families", "huge-pages"]),
        EscapeAttempt(
            "first-process",
            """
            try trace-init @PROBE@ ptrace-init
            kill -KILL 1
            kill -STOP 1
            kill -TERM 1
            holds alive test -d /proc/1
            """),
        EscapeAttempt(
            "signals",
            """
            # Numbers are the sandbox's own here; what has the same one may be the step itself.
            try outside-kill sh -c 'grep -q @MARK@ /proc/@VICTIM@/cmdline && kill -KILL @VICTIM@'
            try outside-stop sh -c 'grep -q @MARK@ /proc/@VICTIM@/cmdline && kill -STOP @VICTIM@'
            try parent sh -c 'for p in /proc/[0-9]*; do grep -q "pipectl.watc[h]" $p/cmdline && kill -KILL ${p#/proc/} && exit 0; done; exit 1'
            """),
        EscapeAttempt(
            "setuid-programs",
            """
            cp /bin/sh own-root && chmod 6755 own-root
            try own sh -c './own-root -p -c "id -u; exit \\$(id -u)" | grep -qx 0'
            for program in su mount umount passwd chsh newgrp ping; do
                path=$(command -v $program) || continue
                found=yes
            done
            try su sh -c 'su root -c id < /dev/null | grep uid=0'
            try mount mount -t tmpfs none /tmp
            try unshare unshare -r true
            try nsenter nsenter -t 1 -m true
            """),
        EscapeAttempt(
            "rights",
            """
            field() { sed -n "s/^$1:[[:space:]]*//p" /proc/self/status; }
            holds no-new-privileges [ "$(field NoNewPrivs)" = 1 ]
            holds filter [ "$(field Seccomp)" = 2 ]
            holds effective [ "$(field CapEff)" = 0000000000000000 ]
            holds permitted [ "$(field CapPrm)" = 0000000000000000 ]
            holds inheritable [ "$(field CapInh)" = 0000000000000000 ]
            holds bounding [ "$(field CapBnd)" = 0000000000000000 ]
            holds ambient [ "$(field CapAmb)" = 0000000000000000 ]
            holds user [ "$(id -u)" != 0 ]
            holds groups sh -c '! id -G | tr " " "\\n" | grep -qx 0'
            holds processes [ "$(ls -d /proc/[0-9]* | wc -l)" -lt 40 ]
            holds no-core grep -Eq '^Max core file size +1 +1 ' /proc/self/limits
            holds host [ "$(uname -n)" = pipectl ]
            """),
        EscapeAttempt(
            "descriptors",
            """
            try foreign @PROBE@ descriptors
            # The channel that says how the step ended is its watcher's third.
            try channel sh -c 'for p in /proc/[0-9]*; do grep -qx stepinit $p/comm && echo x > $p/fd/3 && exit 0; done; exit 1'
            echo '{"step":"descriptors","status":"passed","verdict":"passed"}'
            printf '\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000'
            echo '::set-output name=x::y'
            exit 9
            """),
        EscapeAttempt(
            "network",
            """
            try loopback @PROBE@ tcp 127.0.0.1 @PORT@ heard-@MARK@
            try abstract @PROBE@ abstract @MARK@ heard-@MARK@
            try socket-file @PROBE@ unix @ROOT@/listen/socket heard-@MARK@
            try datagram @PROBE@ udp 192.0.2.1
            try elsewhere @PROBE@ tcp 192.0.2.1 80 x
            try names getent hosts example.com
            try resolver cat /etc/resolv.conf
            try route sh -c 'tail -n +2 /proc/net/route | grep .'
            """),
        EscapeAttempt(
            "network-allowed", hasNetwork: true,
            """
            # The counterpart: a step that is allowed the network reaches the box's own services, too.
            holds loopback @PROBE@ tcp 127.0.0.1 @PORT@ allowed-@MARK@
            try socket-file @PROBE@ unix @ROOT@/listen/socket heard-@MARK@
            try state cat @STATE@/index.sqlite
            """),
        EscapeAttempt(
            "plant",
            """
            # What a shell or a loader would read by itself, for the steps that come after.
            for name in .profile .bashrc .bash_profile .shrc .pam_environment; do echo 'echo PLANTED' > $HOME/$name; done
            for name in sh stepinit id cat; do printf '#!/bin/sh\\necho PLANTED\\n' > $name; chmod +x $name; done
            mkdir -p $HOME/bin && cp sh $HOME/bin/sh
            try shell cp sh /bin/sh
            try linker sh -c 'echo /workspace/x.so > /etc/ld.so.preload'
            """),
    ]
}
