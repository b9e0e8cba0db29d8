#if os(Linux)
    import Results
    import DaemonLog
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// Sandboxes show mounts below their folders, and no other mounts of the machine.
    @Suite(.timeLimit(.minutes(8)), .enabled(if: geteuid() == 0)) struct MountTests {
        @Test func `a sandbox shows mounts below a readable folder, even later ones`() async throws {
            let step = "Step(\"look\", run: \"sh look.sh\")"
            try await Bench.with(Workflows.test(step)) { bench in
                let (shown, spare) = ("\(bench.root)/shown", "\(bench.root)/spare")
                for folder in ["\(shown)/old", "\(shown)/new", spare] {
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                }
                try await bench.commit(
                    [
                        "look.sh": """
                        for one in old new; do echo $one $(cat \(shown)/$one/file 2> /dev/null); done
                        grep -F \(spare) /proc/self/mountinfo || :

                        """
                    ],
                    "Look")
                let mount = "mount -t tmpfs -o mode=755 none"
                let begin = """
                    \(mount) "$0/old" && echo there > "$0/old/file" && \(mount) "\(spare)" && exec "$@"
                    """
                // In a mount namespace of the test's own, so that the machine's mounts stay unchanged.
                try await bench.withDaemon(
                    "--readable", shown,
                    under: ["unshare", "--mount", "--propagation", "private", "sh", "-c", begin, shown]
                ) { daemon in
                    var number = 0
                    func look() async throws -> String {
                        number += 1
                        try await bench.change(number, ["own.txt": "\(number)\n"])
                        try await daemon.event(.runQueued, run: RunID(number))
                        _ = try await bench.pipectl("logs", "\(number)", "--follow")
                        return try await bench.pipectl("logs", "\(number)").output
                    }
                    #expect(try await look() == "old there\nnew\n")
                    let inside = ["nsenter", "--mount", "--target", "\(daemon.child.id)"]
                    let added = try await bench.command(
                        inside + ["sh", "-c", "\(mount) \"$0/new\" && echo later > \"$0/new/file\"", shown])
                    #expect(added.code == 0, "\(added.errors)")
                    // The standby sandbox was started before.
                    _ = try await look()
                    #expect(try await look() == "old there\nnew later\n")
                    let removed = try await bench.command(inside + ["umount", "\(shown)/old"])
                    #expect(removed.code == 0, "\(removed.errors)")
                    _ = try await look()
                    #expect(try await look() == "old\nnew later\n")
                    let outside = try await bench.command(inside + ["grep", "-c", spare, "/proc/self/mountinfo"])
                    #expect(outside.output == "1\n", "the daemon's own mounts stay")
                }
            }
        }
    }
#endif
