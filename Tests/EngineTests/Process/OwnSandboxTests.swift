#if os(Linux)
    import Foundation
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Engine

    /// The sandbox that `stepinit` makes, held against bubblewrap's.
    @Suite(.enabled(if: geteuid() == 0), .timeLimit(.minutes(5)))
    struct OwnSandboxTests {
        private static let bubblewrap = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        private let folder = FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID())").path

        private struct Said: Equatable {
            var lines: [String]
            /// As waitpid(2) gives it.
            var status: Int32
        }

        private func sandbox(_ program: String?) -> Sandbox {
            Sandbox(program: program, stepInit: RunFolder.stepInit.string, readable: [])
        }

        /// Starts words, and waits for them.
        private func run(_ words: [String]) throws -> Said {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = "\(folder)/said-\(UUID())"
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #expect(file >= 0)
            defer { close(file) }
            let request = SpawnRequest(words, descriptors: [(own: file, given: 1), (own: file, given: 2)])
            let pid = try request.start().get()
            var status: Int32 = 0
            #expect(waitpid(pid, &status, 0) == pid)
            return Said(
                lines: try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init),
                status: status)
        }

        private func enclosed(
            _ script: String, by program: String? = nil, _ policy: SandboxPolicy = SandboxPolicy(),
            mounts: [SandboxMount] = []
        ) throws -> Said {
            try run(
                sandbox(program).command(
                    policy, mounts: mounts, user: try StepUsers(seed: "own sandbox").take(), lifetime: .withParent,
                    directory: "/", ["/bin/sh", "-c", script]))
        }

        /// Makes folders and files that a run might show.
        private func mounts() throws -> [SandboxMount] {
            for name in ["work", "shown/inner", "tools/a b"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            chmod("\(folder)/work", 0o777)
            try Data("settings\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/one file"))
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "tools")
            return [
                SandboxMount("\(folder)/work", at: "/workspace", .write),
                SandboxMount("\(folder)/shown", at: "/run/pipectl"),
                SandboxMount("\(folder)/tools/a b", at: "/run/pipectl/inner", .write),
                SandboxMount("\(folder)/one file", at: "/opt/settings/one file"),
                SandboxMount("\(folder)/link", at: "/linked"),
                SandboxMount("\(folder)/none", at: "/none", isOptional: true),
            ]
        }

        /// What can be seen from inside, one thing a line.
        private static let look = """
            cut -d' ' -f4- /proc/self/mountinfo | sed 's/master:[0-9]* //; s/shared:[0-9]* //; s/,max=64//; s#^/newroot / #/ / #' | sort
            sed -n 's/^\\(Cap[A-Z][a-z]*\\|NoNewPrivs\\|Seccomp\\|Groups\\|Uid\\|Gid\\|Umask\\|NSpid\\|NSsid\\):/\\1/p' /proc/self/status
            for kind in net ipc uts cgroup user time; do test -e /proc/self/ns/$kind && echo has $kind; done
            for place in / /dev /run /home /opt /tmp /run/pipectl /opt/settings /linked; do stat -c '%A %U %G %N' $place $place/* $place/.[a-z]*; done 2>/dev/null
            cat '/opt/settings/one file'; hostname; pwd; tty; ls /proc/self/fd; echo $$
            cat /proc/net/dev | cut -d: -f1
            seen=$(ls /proc); echo "$seen" | grep -c '^[0-9]*$'
            for path in /x /usr/x /etc/x /dev/x /run/pipectl/x /proc/sysrq-trigger /opt/settings/x '/opt/settings/one file'; do
                (echo x > "$path") 2>/dev/null && echo "$path can be written"
            done
            for path in /workspace/x /tmp/x /dev/shm/x /sandbox/home/x /var/tmp/x /dev/null /run/pipectl/inner/x; do
                (echo x > "$path") 2>/dev/null || echo "$path can't be written"
            done
            ulimit -p
            """

        @Test(
            .enabled(if: bubblewrap != nil),
            arguments: [
                SandboxPolicy(), SandboxPolicy(network: .allowed), SandboxPolicy(permissions: [.nestedSandboxes]),
            ])
        func showsWhatBubblewrapShows(_ policy: SandboxPolicy) throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mounts = try mounts()
            let own = try enclosed(Self.look, policy, mounts: mounts)
            let theirs = try enclosed(Self.look, by: Self.bubblewrap, policy, mounts: mounts)
            #expect(own.status == 0 && own.lines.contains("settings") && own.lines.contains("pipectl"))
            // Where bubblewrap goes on, `stepinit` is started again; the root's own options are in another order.
            func comparable(_ said: Said) -> [String] {
                said.lines.filter {
                    !$0.contains("/run/stepinit") && !$0.hasSuffix(" stepinit") && !$0.hasPrefix("/ / ro")
                }
            }
            #expect(comparable(own) == comparable(theirs))
            #expect(own.lines.contains { $0.hasPrefix("/ / ro,nosuid,nodev") }, "\(own.lines)")
        }

        @Test func itsFirstProcessSaysNothingOfTheBox() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let said = try enclosed(
                "tr '\\0' ' ' < /proc/1/cmdline; echo; for file in exe environ root cwd mem maps fd; do "
                    + "cat /proc/1/$file >/dev/null 2>&1 && echo $file; ls /proc/1/$file/ 2>/dev/null; done; true",
                mounts: try mounts())
            #expect(said.status == 0)
            #expect(said.lines.count == 1 && said.lines[0].hasPrefix("stepinit "), "\(said)")
            #expect(!said.lines[0].contains(folder) && !said.lines[0].contains("bind"), "\(said)")
        }

        @Test(arguments: [("exit 7", 7), ("kill -9 $$", 128 + 9), ("exit 0", 0)])
        func endsAsItsCommandDoes(_ script: String, _ code: Int32) throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            #expect(try enclosed(script).status == code << 8)
        }

        @Test func whatItLeavesEndsWithIt() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mark = "86399\(UInt16.random(in: 0...999))"
            #expect(try enclosed("setsid sleep \(mark) & setsid sleep \(mark) & exit 3").status == 3 << 8)
            #expect(try run(["/usr/bin/pgrep", "-f", "sleep \(mark)"]).lines == [])
        }

        /// Killed with no time to say goodbye, it takes all that it started along.
        @Test(arguments: [SIGKILL, SIGTERM])
        func endsWithWhoWaitsForIt(_ signal: Int32) throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mark = "86398\(UInt16.random(in: 0...999))"
            let words = sandbox(nil).command(
                SandboxPolicy(), mounts: [], user: try StepUsers(seed: "own sandbox").take(),
                lifetime: .withSocket(groups: 0),
                directory: "/", ["/bin/sh", "-c", "echo x; exec sleep \(mark)"])
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            for end in ends { #expect(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
            let pid = try SpawnRequest(words, descriptors: [(own: ends[1], given: 1)]).start().get()
            close(ends[1])
            defer { close(ends[0]) }
            var byte = [UInt8](repeating: 0, count: 2)
            #expect(read(ends[0], &byte, 2) == 2, "it has begun")
            #expect(kill(pid, signal) == 0)
            #expect(waitpid(pid, nil, 0) == pid)
            // The end of its output, which everything in there holds open.
            var closed = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            #expect(poll(&closed, 1, 30_000) == 1)
            #expect(read(ends[0], &byte, 1) == 0)
        }

        @Test(
            arguments: [
                (["--ro-bind", "/nonexistent", "/x"], "can't show /nonexistent"),
                (["--ro-bind-try", "", "/x"], "can't show a path that is empty"),
                (["--bind", "/usr", "/"], "can't mount /"),
                (["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/nonexistent"], "can't mount /usr/nonexistent"),
                (["--unshare-user"], "unknown option of a sandbox: --unshare-user"),
                (["--ro-bind", "/usr"], "stepinit"), (["--network", "77"], "can't enter the network"),
            ])
        func saysWhatIsWrong(_ words: [String], _ message: String) throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let said = try run(
                [RunFolder.stepInit.string, "--enclose"] + words + [
                    "--", "stepinit", "--user", "65534:65534", "--", "true",
                ])
            #expect(said.status == 125 << 8 && said.lines.count == 1 && said.lines[0].contains(message), "\(said)")
        }

        @Test func aPlaceMayBeALinkOrDeepAndDescriptorsFew() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mounts = try mounts()
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/work/link", withDestinationPath: "place")
            try FileManager.default.createDirectory(atPath: "\(folder)/work/place", withIntermediateDirectories: true)
            let deep = String(repeating: "/a", count: 200)
            let words = sandbox(nil).command(
                SandboxPolicy(),
                mounts: mounts + [
                    SandboxMount("\(folder)/one file", at: "/deep\(deep)"),
                    SandboxMount("\(folder)/shown", at: "/workspace/link"),
                ], user: try StepUsers(seed: "own sandbox").take(), lifetime: .withParent, directory: "/",
                ["/bin/sh", "-c", "cat /deep\(deep); ls /workspace/place; ulimit -n"])
            let said = try run(["/bin/sh", "-c", "ulimit -Sn 12; exec \"$@\"", "sh"] + words)
            #expect(said == Said(lines: ["settings", "inner", "12"], status: 0))
        }

        @Test func nothingStaysRoot() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let said = try run([
                RunFolder.stepInit.string, "--enclose", "--ro-bind", "/usr", "/usr", "--", "stepinit", "--",
                "/usr/bin/true",
            ])
            #expect(
                said.status == 125 << 8
                    && said.lines == ["stepinit: nothing runs as root in a sandbox; --user is missing"])
        }

        @Test func theBoxesMountsStayAsTheyAre() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let before = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
            #expect(try enclosed("true", mounts: try mounts()).status == 0)
            let after = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
            func own(_ text: String) -> [Substring] {
                text.split(separator: "\n").filter { $0.contains(folder) || $0.contains(" /workspace ") }
            }
            #expect(own(before) == own(after))
        }
    }
#endif
