/// Attempts to read and write files that don't belong to the step.
enum FileAttempts {
    static let reading = [
        EscapeAttempt(
            "state", control: .anyone,
            """
            try index cat @STATE@/index.sqlite
            try archive cat @STATE@/archive.git/HEAD
            try lock cat @STATE@/lock
            try secret-file cat @STATE@/secrets/token
            try workspaces ls @STATE@/workspaces
            try logs ls @STATE@/live
            """),
        EscapeAttempt(
            "outside", control: .anyone,
            """
            try file cat @ROOT@/outside/secret.txt
            try dots cat @MEET@/../outside/secret.txt
            ln -sf @ROOT@/outside/secret.txt by-link
            try link cat by-link
            try root-link cat /proc/self/root@ROOT@/outside/secret.txt
            ln -sf @MEET@ meet-link
            try link-dots cat meet-link/../outside/secret.txt
            """),
        EscapeAttempt("worktree", control: .anyone, "try repository cat @REPO@/.git/config"),
        EscapeAttempt(
            "home", control: .anyone,
            """
            try home ls -A @USERHOME@
            """),
        EscapeAttempt(
            "system", control: .root,
            """
            try shadow cat /etc/shadow
            try gshadow cat /etc/gshadow
            try root-home ls -A /root
            try var-log ls /var/log
            """),
        EscapeAttempt(
            "init",
            """
            try init-environ cat /proc/1/environ
            try init-descriptors ls /proc/1/fd/0
            try init-root ls /proc/1/root/usr
            try init-memory head -c 1 /proc/1/maps
            """),
        EscapeAttempt(
            "supervisors",
            """
            # Those who watch over steps run as the same user; nothing of theirs may be open to it.
            seen=0
            for place in /proc/[0-9]*; do
                read -r name < $place/comm || continue
                [ "$name" = stepinit ] || continue
                seen=$((seen + 1))
                try fd ls $place/fd
                try environ cat $place/environ
                try mem head -c 1 $place/mem
                try maps cat $place/maps
                try cwd readlink $place/cwd
                try write-mem sh -c "echo x > $place/mem"
            done
            holds seen-some [ $seen -ge 2 ]
            """),
        EscapeAttempt(
            "processes", control: .anyone,
            """
            # The brackets keep the pattern from finding itself.
            try other-command-line sh -c 'grep -sla "@MARK@-[v]ictim" /proc/[0-9]*/cmdline | grep .'
            """),
    ]

    static let writing = [
        EscapeAttempt(
            "write-outside", control: .anyone,
            """
            try new-file touch @ROOT@/outside/@MARK@
            try by-dots touch @MEET@/../outside/@MARK@
            try objects touch @REPO@/.git/objects/@MARK@
            try hooks sh -c 'echo touch @ROOT@/outside/@MARK@ > @REPO@/.git/hooks/@MARK@'
            try packs touch @REPO@/.git/objects/info/@MARK@
            # These two may be there, as empty folders above what is shown; what is made in them is not made outside.
            touch @ROOT@/home/@MARK@ @STATE@/index.sqlite-@MARK@ @ROOT@/@MARK@ || true
            """),
        EscapeAttempt(
            "write-system",
            """
            try root touch /@MARK@
            try usr touch /usr/@MARK@
            try bin touch /bin/@MARK@
            try lib touch /usr/lib/@MARK@
            try etc touch /etc/@MARK@
            try passwd sh -c 'echo pwned:x:0:0::/:/bin/sh >> /etc/passwd'
            try preload touch /etc/ld.so.preload
            try cron touch /etc/cron.d/@MARK@
            try spool touch /var/spool/cron/crontabs/root
            try at touch /var/spool/at/@MARK@
            try unit touch /etc/systemd/system/@MARK@.service
            try profile touch @USERHOME@/.profile-@MARK@
            try run touch /run/@MARK@
            try dev touch /dev/@MARK@
            """),
        EscapeAttempt(
            "write-box",
            """
            try toolchain touch @TOOLCHAIN@/@MARK@
            try stepinit-mounted sh -c 'echo x > /run/stepinit'
            try stepinit-mounted-gone sh -c 'test -e /run/stepinit && rm -f /run/stepinit'
            try own-passwd sh -c 'echo pwned:x:0:0::/:/bin/sh >> /run/pipectl/passwd'
            try own-passwd-gone sh -c 'rm /run/pipectl/passwd || mv /run/pipectl/group /run/pipectl/passwd'
            try context sh -c 'echo {} > /run/pipectl/context.json'
            try values sh -c 'echo 1 > "$PIPECTL_VALUES_IN/@MARK@.json"'
            try published touch /run/pipectl/@MARK@
            try store touch "$(head -n 1 .git/objects/info/alternates)/@MARK@"
            """),
        EscapeAttempt(
            "mounts",
            """
            # Every place that could be written to, whatever its name, is one of those a step is meant to have.
            while read -r _ _ _ _ place _; do
                case $place in
                    /workspace|/sandbox/home|/var/tmp|/tmp|/dev/shm|@MEET@) continue ;;
                    /dev/pts|/proc|/proc/*|/dev/*) continue ;;
                    # Where steps leave values, if there is no other user for them.
                    /run/pipectl/published) [ @ISROOT@ = no ] && continue ;;
                esac
                seen=yes
                [ -d "$place" ] && touch "$place/@MARK@" 2>/dev/null && echo "ESCAPED write: $place"
                [ -f "$place" ] && [ -w "$place" ] && echo "ESCAPED write: $place"
            done < /proc/self/mountinfo
            holds looked [ "$seen" = yes ]
            """),
        EscapeAttempt(
            "link-hard",
            """
            try shadow ln /etc/shadow hard-shadow
            try system ln /usr/bin/env hard-env
            try passwd ln /etc/passwd hard-passwd
            try init ln /proc/1/environ hard-environ
            """),
        EscapeAttempt(
            "kernel-files",
            """
            try sysrq sh -c 'echo h > /proc/sysrq-trigger'
            try core-pattern sh -c 'echo "|/bin/false" > /proc/sys/kernel/core_pattern'
            try modprobe sh -c 'echo /tmp/x > /proc/sys/kernel/modprobe'
            try random sh -c 'echo x > /proc/sys/kernel/hostname'
            try kcore head -c 1 /proc/kcore
            try kmsg sh -c 'echo x > /dev/kmsg'
            try mem head -c 1 /dev/mem
            try disk sh -c 'head -c 1 /dev/sda || head -c 1 /dev/vda || head -c 1 /dev/nvme0n1'
            try loop ls /dev/loop0
            try kvm ls /dev/kvm
            try uevent ls /sys/kernel/uevent_helper
            try debug ls /sys/kernel/debug
            try release-agent sh -c 'echo /tmp/x > /sys/fs/cgroup/release_agent'
            try group-procs sh -c 'for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo $$ > $f || exit 1; done'
            try init-score sh -c 'echo -1000 > /proc/1/oom_score_adj'
            try own-score sh -c 'echo -1000 > /proc/self/oom_score_adj'
            try map sh -c 'echo 0 0 1 > /proc/self/uid_map'
            """),
    ]
}
