#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Glibc
    import Testing

    /// A bench for one test with something to steal and to harm: files, a listener, a process.
    struct EscapeRoom: Sendable {
        let bench: Bench
        /// Part of every name that an attempt makes outside, so that none is missed.
        let mark: String
        /// The content of every file that must not be read.
        let canary: String
        let listener: Child
        let victim: Child
        let words: [String: String]

        var outside: String { "\(bench.root)/outside" }
        var heard: String { Self.text("\(bench.root)/listen/heard") }

        /// - Parameter steps: The steps of the workflow "test", for changes into main.
        static func with(steps: String, _ body: (EscapeRoom) async throws -> Void) async throws {
            try await Bench.with(Workflows.test(steps, files: ["README.md": "base\n"])) { bench in
                let mark = "pwned-\(UInt32.random(in: 0 ... .max))"
                let canary = "canary-\(UInt64.random(in: 0 ... .max))"
                let files = FileManager.default
                for folder in ["outside", "listen", "control", "home/secrets"] {
                    try files.createDirectory(
                        atPath: "\(bench.root)/\(folder)", withIntermediateDirectories: true,
                        attributes: [.posixPermissions: 0o700])
                }
                chmod(bench.home, 0o700)
                for path in ["outside/secret.txt", "home/secrets/token"] {
                    try Data("\(canary)\n".utf8).write(to: URL(fileURLWithPath: "\(bench.root)/\(path)"))
                }
                try Data("\"\(canary)\"".utf8).write(to: URL(fileURLWithPath: "\(bench.root)/outside/token.json"))
                let probe = try await compileProbe(bench)
                func start(_ words: [String], _ output: String) throws -> Child {
                    try Child(
                        words, in: bench.root, environment: ProcessInfo.processInfo.environment,
                        output: "\(bench.root)/\(output)")
                }
                let listener = try start([probe, "listen", "\(bench.root)/listen", mark], "listen/out")
                defer { listener.kill() }
                let victim = try start([probe, "sleep", "\(mark)-victim"], "listen/victim")
                defer { victim.kill() }
                let port = try await bench.command([
                    "sh", "-c", "timeout 20 tail -n +1 -f \"$0\" | head -n 1", "\(bench.root)/listen/out1",
                ]).output.trimmingCharacters(in: .whitespacesAndNewlines)
                try #require(Int(port) != nil)
                let home = getpwuid(geteuid()).flatMap { String(validatingCString: $0.pointee.pw_dir) }
                let words = [
                    "ROOT": bench.root, "MEET": bench.meet, "STATE": bench.home, "REPO": bench.repository,
                    "USERHOME": ProcessInfo.processInfo.environment["HOME"] ?? home ?? "/root", "PROBE": probe,
                    "MARK": mark, "TOOLCHAIN": try await toolchain(bench), "PORT": port,
                    "VICTIM": "\(victim.id)", "ISROOT": geteuid() == 0 ? "yes" : "no",
                ]
                try await body(
                    EscapeRoom(
                        bench: bench, mark: mark, canary: canary, listener: listener, victim: victim, words: words))
            }
        }

        /// The script with this room's names.
        func filled(_ script: String) -> String {
            words.reduce(script) { $0.replacing("@\($1.key)@", with: $1.value) }
        }

        /// The scripts as files of a change.
        func files(_ attempts: [EscapeAttempt]) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: attempts.map {
                    ("attempts/\($0.name).sh", EscapeAttempt.library + filled($0.script) + "\n")
                })
        }

        /// The output of a step of run `id`.
        func log(_ step: String, of id: Int) async throws -> String {
            try await bench.pipectl("logs", "\(id)", step).output
        }

        func report(_ id: Int) async throws -> String {
            try await bench.pipectl("report", "\(id)", "--format", "json").output
        }

        // MARK: Outside

        /// Whether this process has root's full rights, which root in a container lacks.
        static func isPowerful(_ bench: Bench) async throws -> Bool {
            guard geteuid() == 0 else { return false }
            return try await bench.command(["unshare", "-m", "-u", "true"]).code == 0
        }

        /// Whether system calls of this process are filtered already.
        static var isFiltered: Bool {
            (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.contains("Seccomp:\t0") != true
        }

        /// Runs an attempt outside the sandbox, and undoes its changes of mounts and names.
        func control(_ attempt: EscapeAttempt) async throws -> EscapeEvidence {
            let script = "\(bench.root)/control/\(attempt.name).sh"
            try Data((EscapeAttempt.library + filled(attempt.script)).utf8).write(to: URL(fileURLWithPath: script))
            let words = try await Self.isPowerful(bench) ? ["unshare", "-m", "-u", "--propagation", "private"] : []
            return EscapeEvidence(try await bench.command(words + ["sh", script], in: "\(bench.root)/control").output)
        }

        /// Names outside that contain the mark, which no attempt may leave.
        func traces() async throws -> [String] {
            let found = try await bench.command([
                "find", bench.root, "-path", bench.meet, "-prune", "-o", "-name", "*\(mark)*", "-print",
            ]).output
            let system = [
                "/", "/usr", "/bin", "/usr/lib", "/etc", "/etc/cron.d", "/var/spool/at", "/etc/systemd/system", "/run",
                "/dev", "/tmp", "/var/tmp", words["TOOLCHAIN"] ?? "", words["USERHOME"] ?? "",
            ]
            let files = FileManager.default
            return found.split(separator: "\n").map(String.init)
                + system.flatMap { folder in
                    ((try? files.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.contains(mark) }
                        .map { "\(folder)/\($0)" }
                }
        }

        /// Whether the process outside still sleeps, neither ended nor stopped.
        var victimSleeps: Bool {
            Self.text("/proc/\(victim.id)/stat").split(separator: ")").last?.split(separator: " ").first == "S"
        }

        static func text(_ path: String) -> String {
            String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }

        // MARK: Tools

        private static func toolchain(_ bench: Bench) async throws -> String {
            let found = try await bench.command(["sh", "-c", "dirname \"$(readlink -f \"$(command -v swiftc)\")\""])
            return found.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Compiles it with the toolchain's own compiler, in the folder that steps see.
        private static func compileProbe(_ bench: Bench) async throws -> String {
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "probe.c").path
            let probe = "\(bench.meet)/probe"
            let ended = try await bench.command([
                "sh", "-c", "$(command -v clang || command -v cc) -O1 -o \"$1\" \"$0\"", source, probe,
            ])
            try #require(ended.code == 0, "\(ended.errors)")
            return probe
        }
    }
#endif
