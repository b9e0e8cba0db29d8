#if os(Linux)
    import DaemonLog
    import TestBasics
    import Results
    import Foundation
    import TestSupport
    import Glibc
    import Testing

    /// The daemon when a resource runs out: it waits, reports that, and continues by itself.
    struct SurvivalTests {
        static let isRoot = geteuid() == 0
        static let why: Comment = "only root may mount a small disk"

        private func withSmallDisk(_ body: (Bench, SmallDisk) async throws -> Void) async throws {
            try await SmallDisk.with(
                megabytes: 80, Workflows.test("Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": ""]), body)
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(6)))
        func `a disk that fills during a step is reported and the daemon continues`() async throws {
            try await withSmallDisk { bench, disk in
                for name in ["started", "go"] { try bench.meetingPoint(name) }
                try await bench.withDaemon { daemon in
                    try await daemon.event(.baseline)
                    try await disk.waitForReserve()
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
                    try await disk.fill()
                    try await bench.release("go")
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    #expect(FileManager.default.fileExists(atPath: "\(bench.meet)/ended"), "the step was not held up")
                    let run = try await bench.run(1)
                    #expect(run.verdict == .infrastructure)
                    #expect(run.reason?.contains("disk full") == true, "\(run.reason ?? "")")
                    #expect(run.isArchived, "the reserve is for that")
                    #expect(!daemon.events(.reserveReleased).isEmpty, "\(daemon.text)")
                    #expect(!disk.hasReserve)

                    try await bench.change(2, ["check.sh": "echo fine\n"])
                    try await daemon.event(.diskFull)
                    let status = try await bench.pipectl("status").output
                    #expect(status.contains("nothing starts: the disk of \(bench.home) is nearly full"), "\(status)")
                    let doctor = try await bench.pipectl("doctor").output
                    #expect(doctor.contains("nothing starts: the disk of"), "\(doctor)")

                    try disk.makeRoom()
                    try await daemon.event(.diskHasRoom)
                    try await daemon.event(.runQueued, run: 2)
                    let logs = try await bench.pipectl("logs", "2", "--follow")
                    #expect(logs.output == "fine\n", "\(logs) \(daemon.text)")
                    try await disk.waitForReserve()
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed, .infrastructure])
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(6)))
        func `warm workspaces come back when the disk has space`() async throws {
            try await withSmallDisk { bench, disk in
                func base(ofChange number: Int, inRun id: RunID, _ daemon: Bench.Daemon) async throws -> RunID? {
                    try await bench.change(number, ["check.sh": "echo \(number)\n"])
                    _ = try await bench.pipectl("notify")
                    // Its workspace is kept after its verdict.
                    try await daemon.ended(id)
                    let report = try await bench.report(id)
                    #expect(report.verdict == .passed && report.change != nil)
                    return report.base?.run
                }
                try await bench.withDaemon("--refresh") { daemon in
                    try await daemon.event(.baseline)
                    try await disk.waitForReserve()
                    #expect(try await base(ofChange: 1, inRun: 1, daemon) == nil)
                    try await daemon.ended(2)
                    #expect(try await base(ofChange: 2, inRun: 3, daemon) == 2)
                    try await disk.takeRoom()
                    try await daemon.event(.snapshotsRemoved)
                    try disk.makeRoom()
                    try await daemon.event(.diskHasRoom)
                    #expect(try await base(ofChange: 3, inRun: 4, daemon) == nil)
                    try await daemon.ended(5)
                    #expect(try await base(ofChange: 4, inRun: 6, daemon) == 5)
                    #expect(await daemon.stop() == 0)
                }
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(6)))
        func `a push while the disk is full is tested once when there is space`() async throws {
            try await withSmallDisk { bench, disk in
                try await bench.withDaemon { daemon in
                    try await daemon.event(.baseline)
                    try await disk.waitForReserve()
                    try await disk.fill(keepsReserve: false)
                    for number in 1...3 { try await bench.change(number, ["a.txt": "\(number)\n"]) }
                    _ = try await bench.pipectl("notify", bench.repository)
                    // Also takes the space that the log had left: from here on no transaction can succeed.
                    try await disk.takeRoom()
                    let status = try await bench.pipectl("status")
                    #expect(status.code == 0, "the daemon answers: \(status.errors)")
                    try disk.makeRoom()
                    for number in 1...3 { try await daemon.event(.runQueued, run: RunID(number)) }
                    for number in 1...3 { _ = try await bench.pipectl("logs", "\(number)", "--follow") }
                    #expect(await daemon.stop() == 0)
                }
                let runs = try await bench.runs()
                #expect(runs.map(\.verdict) == [.passed, .passed, .passed])
                #expect(Set(runs.compactMap(\.change)) == ["1", "2", "3"])
            }
        }

        @Test(.enabled(if: isRoot, why), .timeLimit(.minutes(6)))
        func `a daemon that starts on a full disk uses its reserve`() async throws {
            try await withSmallDisk { bench, disk in
                try await bench.withDaemon { daemon in
                    try await daemon.event(.baseline)
                    try await disk.waitForReserve()
                    #expect(await daemon.stop() == 0)
                }
                try await disk.takeRoom()
                try await bench.withDaemon { daemon in
                    #expect(!disk.hasReserve)
                    try await bench.change(1, ["check.sh": "echo fine\n"])
                    try await daemon.event(.diskFull)
                    try disk.makeRoom()
                    try await daemon.event(.diskHasRoom)
                    try await daemon.ended(1)
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed])
            }
        }

        @Test(.timeLimit(.minutes(6)))
        func `a hundred ready steps with 64 descriptors wait for each other`() async throws {
            let steps = "for number in 1...100 { Step(\"step \\(number)\", run: \"sh check.sh\") }"
            try await Bench.with(Workflows.test(steps, files: ["check.sh": "true\n"])) { bench in
                // Compiled before, since the compiler needs more descriptors.
                _ = try await bench.look()
                try await bench.withDaemon("--slots", "100", under: ["prlimit", "--nofile=64:64"]) { daemon in
                    try await bench.change(1, ["check.sh": "echo one\n"])
                    try await daemon.event(.runQueued, run: 1)
                    _ = try await bench.pipectl("logs", "1", "step 100", "--follow")
                    try await bench.change(2, ["check.sh": "echo two\n"])
                    try await daemon.event(.runQueued, run: 2)
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
        @Test(.timeLimit(.minutes(6)))
        func `a daemon without free descriptors continues when there are some`() async throws {
            try await Bench.with { bench in
                _ = try await bench.look()
                try await bench.withDaemon { daemon in
                    // After a run, the daemon has what it opens once and can't do without.
                    try await bench.change(1, ["a.txt": "a\n"])
                    try await daemon.ended(1)
                    try await bench.archived(1)
                    _ = try await bench.command(["prlimit", "--pid", "\(daemon.child.id)", "--nofile=3:4096"])
                    try await bench.change(2, ["a.txt": "b\n"])
                    try await daemon.event(.repositoryUnreadable)
                    _ = try await bench.command(["prlimit", "--pid", "\(daemon.child.id)", "--nofile=4096:4096"])
                    #expect(try await bench.pipectl("notify", bench.repository).code == 0)
                    try await daemon.ended(2)
                    #expect(await daemon.stop() == 0)
                }
                #expect(try await bench.runs().map(\.verdict) == [.passed, .passed])
            }
        }
    }
#endif
