#if os(Linux)
    import Results
    import Foundation
    import TestSupport
    import Glibc
    import Testing

    /// The daemon when a resource runs out: it waits, reports that, and continues by itself.
    struct SurvivalTests {
        static let isRoot = geteuid() == 0
        static let why: Comment = "only root may mount a small disk"

        /// A bench whose state folder is a disk of its own with this many MiB.
        private func withSmallDisk(_ size: Int = 80, _ body: (Bench) async throws -> Void) async throws {
            try await Bench.with(Workflows.test("Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": ""])) {
                bench in
                try FileManager.default.createDirectory(atPath: bench.home, withIntermediateDirectories: false)
                let mounted = try await bench.command([
                    "mount", "-t", "tmpfs", "-o", "size=\(size)m,mode=700", "none", bench.home,
                ])
                try #require(mounted.code == 0, "\(mounted.errors)")
                let result: Result<Void, any Error>
                do { result = .success(try await body(bench)) } catch { result = .failure(error) }
                _ = try await bench.command(["umount", "-l", bench.home])
                try result.get()
            }
        }

        /// Fills the disk completely, as another program on the machine could.
        private func fill(_ bench: Bench, _ name: String = "full") async throws {
            _ = try await bench.command(["sh", "-c", "cat /dev/zero >> \"$0\" 2> /dev/null", "\(bench.home)/\(name)"])
        }

        private func free(_ bench: Bench) throws {
            for name in ["full", "fuller"] { try? FileManager.default.removeItem(atPath: "\(bench.home)/\(name)") }
        }

        private func hasBallast(_ bench: Bench) -> Bool {
            FileManager.default.fileExists(atPath: "\(bench.home)/ballast")
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(3)))
        func `a disk that fills during a step is reported and the daemon continues`() async throws {
            try await withSmallDisk { bench in
                for name in ["started", "go"] { try bench.meetingPoint(name) }
                try await bench.withDaemon { daemon in
                    _ = try await daemon.line("baseline of")
                    while !hasBallast(bench) { try await Task.sleep(for: .milliseconds(50)) }
                    try await bench.change(
                        1,
                        [
                            "check.sh": """
                            echo up > \(bench.meet)/started; cat \(bench.meet)/go
                            head -c 20000000 /dev/zero
                            echo ended > \(bench.meet)/ended
                            """
                        ])
                    try await bench.arrival(at: "started")
                    try await fill(bench)
                    try await bench.release("go")
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    #expect(FileManager.default.fileExists(atPath: "\(bench.meet)/ended"), "the step was not held up")
                    let run = try await bench.run(1)
                    #expect(run.verdict == .infrastructure)
                    #expect(run.reason?.contains("disk full") == true, "\(run.reason ?? "")")
                    #expect(run.isArchived, "the verdict has room in the store's log, or in the reserve")

                    try await bench.change(2, ["check.sh": "echo fine\n"])
                    _ = try await daemon.line("no run can start: ")
                    let status = try await bench.pipectl("status").output
                    #expect(status.contains("nothing starts: the disk of \(bench.home) is nearly full"), "\(status)")
                    let doctor = try await bench.pipectl("doctor").output
                    #expect(doctor.contains("nothing starts: the disk of"), "\(doctor)")

                    try free(bench)
                    _ = try await daemon.line("there is enough space")
                    let logs = try await bench.pipectl("logs", "2", "--follow")
                    #expect(logs.output == "fine\n", "\(logs) \(daemon.text)")
                    while !hasBallast(bench) { try await Task.sleep(for: .milliseconds(50)) }
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed, .infrastructure])
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(3)))
        func `warm workspaces come back when the disk has space`() async throws {
            try await withSmallDisk { bench in
                func base(ofChange number: Int, inRun id: RunID) async throws -> RunID? {
                    try await bench.change(number, ["check.sh": "echo \(number)\n"])
                    _ = try await bench.pipectl("notify")
                    _ = try await bench.pipectl("logs", "\(id)", "--follow")
                    let report = try await bench.report(id)
                    #expect(report.verdict == .passed && report.change != nil)
                    return report.base?.run
                }
                try await bench.withDaemon("--refresh") { daemon in
                    _ = try await daemon.line("baseline of")
                    while !hasBallast(bench) { try await Task.sleep(for: .milliseconds(50)) }
                    #expect(try await base(ofChange: 1, inRun: 1) == nil)
                    _ = try await bench.pipectl("logs", "2", "--follow")
                    #expect(try await base(ofChange: 2, inRun: 3) == 2)
                    try await fill(bench)
                    _ = try await daemon.line("removed 1 warm workspaces")
                    try free(bench)
                    _ = try await daemon.line("there is enough space")
                    #expect(try await base(ofChange: 3, inRun: 4) == nil)
                    _ = try await bench.pipectl("logs", "5", "--follow")
                    #expect(try await base(ofChange: 4, inRun: 6) == 5)
                    #expect(await daemon.stop() == 0)
                }
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(3)))
        func `a push while the disk is full is tested once when there is space`() async throws {
            try await withSmallDisk { bench in
                try await bench.withDaemon { daemon in
                    _ = try await daemon.line("baseline of")
                    while !hasBallast(bench) { try await Task.sleep(for: .milliseconds(50)) }
                    try FileManager.default.removeItem(atPath: "\(bench.home)/ballast")
                    try await fill(bench)
                    for number in 1...3 { try await bench.change(number, ["a.txt": "\(number)\n"]) }
                    _ = try await bench.pipectl("notify", bench.repository)
                    // Also takes the space that the log had left: from here on no transaction can succeed.
                    try await fill(bench, "fuller")
                    let status = try await bench.pipectl("status")
                    #expect(status.code == 0, "the daemon answers: \(status.errors)")
                    try free(bench)
                    for number in 1...3 { _ = try await daemon.line("run \(number) test") }
                    for number in 1...3 { _ = try await bench.pipectl("logs", "\(number)", "--follow") }
                    #expect(await daemon.stop() == 0)
                }
                let runs = try await bench.runs()
                #expect(runs.map(\.verdict) == [.passed, .passed, .passed])
                #expect(Set(runs.compactMap(\.change)) == ["1", "2", "3"])
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(3)))
        func `a daemon that starts on a full disk uses its reserve`() async throws {
            try await withSmallDisk { bench in
                try await bench.withDaemon { daemon in
                    _ = try await daemon.line("baseline of")
                    while !hasBallast(bench) { try await Task.sleep(for: .milliseconds(50)) }
                    #expect(await daemon.stop() == 0)
                }
                try await fill(bench)
                try await bench.withDaemon { daemon in
                    #expect(!hasBallast(bench))
                    try await bench.change(1, ["check.sh": "echo fine\n"])
                    _ = try await daemon.line("no run can start: ")
                    try free(bench)
                    _ = try await daemon.line("there is enough space")
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed])
            }
        }

        @Test(.timeLimit(.minutes(3)))
        func `a hundred ready steps with 64 descriptors wait for each other`() async throws {
            let steps = "for number in 1...100 { Step(\"step \\(number)\", run: \"sh check.sh\") }"
            try await Bench.with(Workflows.test(steps, files: ["check.sh": "true\n"])) { bench in
                // Compiled before, since the compiler needs more descriptors.
                _ = try await bench.look()
                try await bench.withDaemon("--slots", "100", under: ["prlimit", "--nofile=64:64"]) { daemon in
                    try await bench.change(1, ["check.sh": "echo one\n"])
                    _ = try await daemon.line("run 1 test")
                    _ = try await bench.pipectl("logs", "1", "step 100", "--follow")
                    try await bench.change(2, ["check.sh": "echo two\n"])
                    _ = try await daemon.line("run 2 test")
                    _ = try await bench.pipectl("logs", "2", "step 100", "--follow")
                    for _ in 1...20 { #expect(try await bench.pipectl("status").code == 0) }
                    #expect(await daemon.stop() == 0)
                }
                let runs = try await bench.runs()
                #expect(runs.map(\.verdict) == [.passed, .passed], "\(runs.map { $0.reason ?? "" })")
                #expect(runs.map(\.stepCounts.passed) == [100, 100])
            }
        }

        /// `prlimit` takes all descriptors away while it runs, and gives them back.
        @Test(.timeLimit(.minutes(3)))
        func `a daemon without free descriptors continues when there are some`() async throws {
            try await Bench.with { bench in
                _ = try await bench.look()
                try await bench.withDaemon { daemon in
                    _ = try await bench.command(["prlimit", "--pid", "\(daemon.child.id)", "--nofile=3:4096"])
                    try await bench.change(1, ["a.txt": "a\n"])
                    _ = try await daemon.line("can't be read")
                    _ = try await bench.command(["prlimit", "--pid", "\(daemon.child.id)", "--nofile=4096:4096"])
                    #expect(try await bench.pipectl("notify", bench.repository).code == 0)
                    _ = try await daemon.line("run 1 test")
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed])
            }
        }
    }
#endif
