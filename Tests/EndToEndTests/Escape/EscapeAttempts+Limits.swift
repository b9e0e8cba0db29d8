/// A change that exceeds its share or its time. Another change beside it must continue.
struct GreedyAttempt: Sendable {
    var name: String
    /// The change's `check.sh`.
    var script: String
    /// Its log contains this: it has reached the point at which it must be stopped.
    var prints: String
    /// Its report has one of these texts; which one depends on whether there are control groups.
    var says: [String]

    /// The limits of the only step of each of these changes.
    static let limits = """
        .limits(.processes(64), .memory(.mebibytes(192)), .fileSize(.mebibytes(16)), .openFiles(64), \
        .workspace(.mebibytes(48)), .output(.mebibytes(4)), .cpuTime(.seconds(20))).timeout(.seconds(45))
        """

    static let all = [
        GreedyAttempt(
            name: "fork-bomb", script: "@PROBE@ bomb 5000", prints: "processes: ",
            says: ["processes: 64 limit reached by step check", "exit code 1"]),
        GreedyAttempt(
            name: "memory", script: "@PROBE@ memory 4000", prints: "memory: 16 MiB",
            says: ["memory: 192.0 MiB limit reached by step check", "exit code 1"]),
        GreedyAttempt(
            name: "memory-files",
            script: "echo filling; head -c 3000000000 /dev/zero | split -b 15M - /tmp/x; du -sm /tmp; exit 1",
            prints: "filling",
            says: ["memory: 192.0 MiB limit reached by step check", "exit code 1"]),
        GreedyAttempt(
            name: "shared-memory",
            script: "echo filling; head -c 3000000000 /dev/zero | split -b 15M - /dev/shm/x; exit 1",
            prints: "filling",
            says: ["memory: 192.0 MiB limit reached by step check", "exit code 1"]),
        GreedyAttempt(
            name: "disk", script: "echo filling; yes | head -c 90000000 | split -b 8M - piece; sleep 40",
            prints: "filling", says: ["workspace: 48.0 MiB limit reached by step check"]),
        // Files to which no path leads, or none that the daemon's user may follow.
        GreedyAttempt(
            name: "disk-unlinked", script: "echo filling; @PROBE@ unlinked 12", prints: "filling",
            says: ["workspace: 48.0 MiB limit reached by step check"]),
        GreedyAttempt(
            name: "disk-shut",
            script:
                "echo filling; mkdir shut; (cd shut && yes | head -c 90000000 | split -b 8M -); chmod 0 shut; sleep 40",
            prints: "filling", says: ["workspace: 48.0 MiB limit reached by step check"]),
        GreedyAttempt(
            name: "memory-unlinked", script: "echo filling; @PROBE@ memfd 40", prints: "filling",
            says: ["memory: 192.0 MiB limit reached by", "exit code 1"]),
        GreedyAttempt(
            name: "terminals", script: "@PROBE@ terminals 200", prints: "terminals: ",
            says: ["terminals: 64 limit reached by the run", "exit code 1"]),
        // Too deep for a measurement that descends folder by folder.
        GreedyAttempt(
            name: "disk-deep", script: "echo digging; @PROBE@ deep d 400; sleep 40",
            prints: "digging", says: ["workspace: 256 folders deep limit reached by step check"]),
        GreedyAttempt(
            name: "one-file", script: "echo writing; exec head -c 90000000 /dev/zero > large", prints: "writing",
            says: ["file size: 16.0 MiB limit reached by step check"]),
        GreedyAttempt(
            name: "open-files", script: "ulimit -n 6000 || true; @PROBE@ files 5000",
            prints: "files: 61: Too many open files",
            says: ["exit code 1"]),
        GreedyAttempt(
            name: "output", script: "yes pwned", prints: "pwned", says: ["output: 4.0 MiB limit reached by step check"]),
        GreedyAttempt(
            name: "kill-all", script: "echo killing; kill -KILL -1; sleep 40", prints: "killing",
            says: ["its supervisor stepinit was killed", "ended by signal 9"]),
        GreedyAttempt(
            name: "kill-watcher",
            script: "grep -q stepinit /proc/$PPID/comm && echo killing; kill -KILL $PPID; sleep 40",
            prints: "killing",
            says: ["its supervisor stepinit was killed"]),
        GreedyAttempt(
            name: "trace-me", script: "echo tracing; exec @PROBE@ traceme", prints: "tracing",
            says: ["signal", "exit code"]),
        GreedyAttempt(
            name: "survive",
            script: "@PROBE@ survive @MEET@/survivor; (trap '' HUP TERM INT; sleep 1000) & nohup sleep 1000 & exit 7",
            prints: "done", says: ["exit code 7"]),
    ]
}
