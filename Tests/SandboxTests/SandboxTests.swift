#if os(Linux)
    import TestBasics
    import TestSupport
    import Foundation
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Sandbox

    /// A process in a sandbox, as root and as another user.
    @Suite(.timeLimit(.minutes(5)))
    struct SandboxTests {
        private let room: TemporaryFolder
        private var folder: String { room.path }

        init() throws { room = try TemporaryFolder(.disk) }

        private struct Said: Equatable {
            var lines: [String]
            /// The status of waitpid(2).
            var status: Int32
        }

        /// Starts a command and waits for its end.
        private func run(_ words: [String]) throws -> Said {
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
            _ script: String, _ policy: SandboxPolicy = SandboxPolicy(), mounts: [SandboxMount] = []
        ) async throws -> Said {
            let sandbox = try await Sandbox.find(stepInit: RunFolder.stepInit.string, toolchain: nil)
            return try run(
                sandbox.command(
                    policy, mounts: mounts, user: try StepUsers(seed: "sandbox").take(), lifetime: .withParent,
                    directory: "/", ["/bin/sh", "-c", script]))
        }

        /// Makes folders and files that a run might show.
        private func mounts() throws -> [SandboxMount] {
            for name in ["work", "shown/inner", "tools/a b"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            for name in ["work", "tools/a b"] { chmod("\(folder)/\(name)", 0o777) }
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

        /// Prints what can be seen from inside, one fact a line.
        private static let look = """
            grep -E ' /(newroot)? / ro,' /proc/self/mountinfo > /dev/null && echo the root is read-only
            sed -n 's/^\\(Cap[A-Z][a-z]*\\|NoNewPrivs\\|Seccomp\\):\t*/\\1 /p' /proc/self/status
            cat '/opt/settings/one file'; hostname; pwd; ls -A /linked; ls /proc/self/fd | tr '\\n' ' '; echo; echo "pid $$"
            grep -c : /proc/net/dev
            set -- /proc/[0-9]*; echo $#
            for path in /x /usr/x /etc/x /dev/x /run/pipectl/x /proc/sysrq-trigger /opt/settings/x '/opt/settings/one file'; do
                (echo x > "$path") 2>/dev/null && echo "$path can be written"
            done
            for path in /workspace/x /tmp/x /dev/shm/x /sandbox/home/x /var/tmp/x /dev/null /run/pipectl/inner/x; do
                (echo x > "$path") 2>/dev/null || echo "$path can't be written"
            done
            """

        @Test(arguments: [[], [SandboxPermission.nestedSandboxes]])
        func `the sandbox shows the given folders and nothing else`(_ permissions: Set<SandboxPermission>) async throws
        {
            let said = try await enclosed(Self.look, SandboxPolicy(permissions: permissions), mounts: try mounts())
            #expect(said.status == 0)
            let none = "0000000000000000"
            #expect(
                said.lines == [
                    "the root is read-only", "CapInh \(none)", "CapPrm \(none)", "CapEff \(none)", "CapBnd \(none)",
                    "CapAmb \(none)", "NoNewPrivs 1", "Seccomp 2", "settings", "pipectl", "/", "a b", "0 1 2 3 ",
                    "pid 2",
                    // Only the loopback interface; only the first process and the shell.
                    "1", "2",
                ], "\(said.lines)")
        }

        @Test func `the first process reveals nothing of the machine`() async throws {
            let said = try await enclosed(
                "tr '\\0' ' ' < /proc/1/cmdline; echo; for file in exe environ root cwd mem maps fd; do "
                    + "cat /proc/1/$file >/dev/null 2>&1 && echo $file; ls /proc/1/$file/ 2>/dev/null; done; true",
                mounts: try mounts())
            #expect(said.status == 0)
            #expect(said.lines.count == 1 && said.lines[0].hasPrefix("/run/stepinit "), "\(said)")
            #expect(!said.lines[0].contains(folder) && !said.lines[0].contains("bind"), "\(said)")
        }

        @Test(arguments: [("exit 7", 7), ("kill -9 $$", 128 + 9), ("exit 0", 0)])
        func `the sandbox ends with its command's status`(_ script: String, _ code: Int32) async throws {
            #expect(try await enclosed(script).status == code << 8)
        }

        @Test func `processes that the command leaves end with it`() async throws {
            let mark = "86399\(UInt16.random(in: 0...999))"
            #expect(try await enclosed("setsid sleep \(mark) & setsid sleep \(mark) & exit 3").status == 3 << 8)
            #expect(try run(["/usr/bin/pgrep", "-f", "sleep \(mark)"]).lines == [])
        }

        @Test(.enabled(if: geteuid() == 0)) func `no process stays root`() throws {
            let said = try run([RunFolder.stepInit.string, "--filter", "--", "/usr/bin/true"])
            #expect(said.status == 125 << 8)
        }

        @Test func `the machine's mounts stay unchanged`() async throws {
            let before = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
            #expect(try await enclosed("true", mounts: try mounts()).status == 0)
            let after = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
            func own(_ text: String) -> [Substring] {
                text.split(separator: "\n").filter { $0.contains(folder) || $0.contains(" /workspace ") }
            }
            #expect(own(before) == own(after))
        }
    }
#endif
