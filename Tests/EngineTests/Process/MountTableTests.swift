#if os(Linux)
    import Foundation
    import SystemPackage
    import Testing

    @testable import Engine

    /// Which mounts a sandbox can be started without.
    struct MountTableTests {
        private static let table = MountTable(
            """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            23 22 0:21 / /proc rw,nosuid - proc proc rw
            24 22 0:5 / /dev rw,nosuid - devtmpfs udev rw
            25 24 0:22 / /dev/pts rw - devpts devpts rw
            26 22 0:30 / /mnt/my\\040disk rw - ext4 /dev/sdb1 rw
            27 26 0:31 / /mnt/my\\040disk/b\\134s rw - tmpfs none rw
            28 22 0:32 / /srv rw - ext4 /dev/sdc1 rw
            29 28 0:33 / /srv/git rw - nfs4 host:/git rw
            30 28 0:34 / /srv/gitea rw - nfs4 host:/gitea rw
            31 28 0:35 / /srv/git rw - tmpfs none rw
            not a line

            """.utf8)

        @Test func readsWhereEachIs() {
            #expect(
                Self.table.places == [
                    "/", "/proc", "/dev", "/dev/pts", "/mnt/my disk", "/mnt/my disk/b\\s", "/srv", "/srv/git",
                    "/srv/gitea", "/srv/git",
                ])
            #expect(MountTable("1 2 0:1 / /end\\04 rw\n1 2 0:1 / /\\0 rw".utf8).places == ["/end\\04", "/\\0"])
            #expect(MountTable([UInt8]()).places == [])
        }

        @Test(
            arguments: [
                // What is below a folder that is shown is shown with it, and what leads to it must stay.
                (["/srv/git/x.git/objects", "/dev/null"], ["/dev", "/srv", "/srv/git"]),
                (
                    ["/srv", "/mnt/my disk/b\\s"],
                    ["/mnt/my disk", "/mnt/my disk/b\\s", "/srv", "/srv/git", "/srv/gitea"]
                ),
                (["/mnt/my", "/proc/self"], ["/proc"]),
                (["/usr"], []),
            ] as [([String], [String])])
        func keepsWhatIsShown(shown: [String], needed: [String]) {
            #expect(Self.table.needed(showing: shown) == needed)
        }

        @Test func namesWhatAProcessIsMadeOf() {
            let words = [
                "/usr/bin/bwrap", "--unshare-pid", "--ro-bind-try", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
                "--bind", "/a", "/b", "--tmpfs", "/tmp", "--", "/x", "--bind", "/not", "/not",
            ]
            #expect(Array(SandboxWords.sources(in: words).prefix(3)) == ["/usr/bin/bwrap", "/usr", "/a"])
            #expect(!SandboxWords.sources(in: words).contains("/not"))
        }

        /// It starts what it is asked to, where the mounts are fewer, and changes nothing outside.
        @Test(.enabled(if: geteuid() == 0), .timeLimit(.minutes(5)))
        func startsProcessesWithFewMounts() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "mounts-\(UUID())").path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let namespace = LeanNamespace(at: folder)
            let before = try MountTable.ofThread()
            for _ in 1...2 {
                var ends: [Int32] = [0, 0]
                #expect(pipe(&ends) == 0)
                let reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
                defer { close(ends[1]) }
                let begun = namespace.start(
                    SpawnRequest(["/bin/cat", "/proc/self/mountinfo"], descriptors: [(own: ends[1], given: 1)]),
                    showing: ["/bin/cat", "/nonexistent", folder])
                let pid = try #require(begun).get().pid
                var status: Int32 = 0
                #expect(waitpid(pid, &status, 0) == pid && status == 0)
                // A list of few mounts fits into a pipe.
                let table = MountTable(reading.availableData)
                #expect(table.places.contains("/") && table.places.contains("/proc"))
                #expect(table.places.count < before.places.count, "\(table.places)")
                #expect(!table.places.contains("/dev/pts"))
            }
            #expect(try MountTable.ofThread().places == before.places)
            let missing = try #require(namespace.start(SpawnRequest(["/nonexistent"], descriptors: []), showing: []))
            #expect(throws: Errno.noSuchFileOrDirectory) { try missing.get() }
        }
    }
#endif
