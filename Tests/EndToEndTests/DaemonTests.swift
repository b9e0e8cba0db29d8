import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The daemon while a run is live. Steps wait at named pipes until the test lets them continue.
struct DaemonTests {
    @Test(.timeLimit(.minutes(6)))
    func `a newer push supersedes a run, and SIGTERM lets the new run end`() async throws {
        try await Bench.with(Workflows.test("Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": ""])) {
            bench in
            for name in ["first", "never", "second", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/first; cat \(bench.meet)/never"])
                #expect(try await bench.pipectl("notify", bench.repository).errors.contains("looking at repo"))
                try await bench.arrival(at: "first")

                let status = try await status(bench)
                #expect(status.processID == daemon.child.id)
                #expect(status.running.map(\.id) == [1])
                #expect(status.repositories.first?.isWatched == true)

                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/second; cat \(bench.meet)/go"])
                #expect(try await bench.pipectl("notify").code == 0)
                try await bench.arrival(at: "second")
                _ = try await bench.pipectl("logs", "1", "--follow")
                let superseded = try await bench.run(1)
                #expect(superseded.verdict == .superseded)
                #expect(superseded.supersededBy == 2)
                #expect(try await bench.report(1).supersededBy == 2)

                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                try await bench.release("go")
                #expect(await daemon.end() == 0)
            }
            #expect(try await bench.runs().map(\.verdict) == [.passed, .superseded])
            let notify = try await bench.pipectl("notify")
            #expect(notify.code != 0, "nobody is there to look")
            #expect(notify.errors.contains("pipectl watch"), "\(notify.errors)")
        }
    }

    /// Like systemd when it stops a scope, or a service without `KillMode=mixed`: it signals all processes at once.
    @Test(.timeLimit(.minutes(6)))
    func `a step that the shutdown's signal ended does not fail its run`() async throws {
        let step = "Step(\"check\", run: \"sh check.sh\").neverProved()"
        try await Bench.with(Workflows.test(step, files: ["check.sh": ""])) { bench in
            try bench.meetingPoint("started")
            let number = Int.random(in: 1_000_000...9_999_999)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let check = """
                    if [ "$PIPECTL_RUN_ATTEMPT" = 2 ]; then exit 0; fi
                    echo up > \(bench.meet)/started
                    exec sleep \(number)
                    """
                try await bench.change(1, ["check.sh": check])
                try await bench.arrival(at: "started")
                // The shell says that it is up before it becomes this process.
                try await eventually("the signal for the step") {
                    try await bench.command(["pkill", "-TERM", "-xf", "sleep \(number)"]).code == 0
                }
                daemon.child.signal(SIGTERM)
                #expect(await daemon.end() == 0)
            }
            try await bench.withDaemon { _ in
                let waited = try await bench.pipectl("wait", "1", "--timeout", "120")
                #expect(waited.code == 0, "\(waited.errors)")
            }
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.passed] && runs.first?.attempt == 2, "\(runs)")
        }
    }

    /// The shell and the daemon have different environments: here they find bubblewrap in different places.
    @Test(.timeLimit(.minutes(6)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/bwrap")))
    func `doctor reports the state of the running daemon`() async throws {
        try await Bench.with { plain in
            var bench = plain
            let bubblewrap = "\(bench.meet)/bwrap"
            try FileManager.default.createSymbolicLink(atPath: bubblewrap, withDestinationPath: "/usr/bin/bwrap")
            bench.variables["PIPECTL_BWRAP"] = bubblewrap
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let shell = try await plain.pipectl("doctor", "--json").output
                let checks = try JSONDecoder().decode([Check].self, from: Data(shell.utf8))
                for name in ["sandbox", "limits", "workspaces"] {
                    let check = try #require(checks.first { $0.name == name })
                    #expect(check.found.hasSuffix("(reported by the daemon)"), "\(check)")
                }
                #expect(checks.contains { $0.name == "sandbox" && $0.found.hasPrefix(bubblewrap) }, "\(checks)")
            }
        }
    }

    private struct Check: Decodable { var name: String, found: String, isGood: Bool }

    @Test(.timeLimit(.minutes(6)))
    func `after kill -9 no process of the step lives, and the next start finishes the run`() async throws {
        let step = "Step(\"check\", run: \"sh check.sh\").neverProved()"
        try await Bench.with(Workflows.test(step, files: ["check.sh": ""])) { bench in
            for name in ["started", "alive"] { try bench.meetingPoint(name) }
            // Every process that holds `alive` open keeps its reader waiting, even a grandchild in a session of its
            // own.
            let check = """
                if [ "$PIPECTL_RUN_ATTEMPT" = 2 ]; then echo second attempt; exit 0; fi
                exec 9> \(bench.meet)/alive
                setsid sh -c 'trap "" TERM; sleep 1000; sleep 1000' &
                echo up > \(bench.meet)/started
                sleep 1000
                """
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": check])
                async let last = bench.arrival(at: "alive")
                try await bench.arrival(at: "started")
                daemon.child.kill()
                #expect(await daemon.child.end == 128 + SIGKILL)
                _ = try await last
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(await daemon.stop() == 0)
            }
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.passed])
            #expect(runs.map(\.attempt) == [2])
            #expect(try await bench.pipectl("logs", "1").output == "second attempt\n")
            let refs = try await bench.git(["for-each-ref", "refs/runs"], in: "\(bench.home)/archive.git")
            #expect(refs.split(separator: "\n").count == 1, "exactly one verdict")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a run that a person cancels names the reason`() async throws {
        let step = "Step(\"check\", run: \"sh check.sh\")"
        try await Bench.with(Workflows.test(step, files: ["check.sh": ""])) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/never"])
                try await bench.arrival(at: "started")
                let cancel = try await bench.pipectl("cancel", "1", "--reason", "not wanted")
                #expect(cancel.code == 0)
                #expect(cancel.errors.contains("cancelling run 1"))
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(try await bench.pipectl("cancel", "1").errors.contains("has already ended"))
                let unknown = try await bench.pipectl("cancel", "99")
                #expect(unknown.code == 2, "a number that no run has is a mistake in the call")
                #expect(unknown.errors.contains("no run 99"), "\(unknown.errors)")
            }
            let run = try await bench.run(1)
            #expect(run.verdict == .cancelled)
            #expect(run.reason?.contains("not wanted") == true)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a run whose commit vanished before its start reports that`() async throws {
        let step = "Step(\"check\", run: \"sh check.sh\")"
        try await Bench.with(Workflows.test(step, files: ["check.sh": ""])) { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "1") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/go"])
                try await bench.arrival(at: "started")
                let head = try await bench.change(2, ["b.txt": "b\n"])
                try await daemon.event(.runQueued, run: 2)
                try await bench.git(["update-ref", "-d", "refs/pull/2/head"])
                try await bench.git(["reflog", "expire", "--expire=now", "--all"])
                try await bench.git(["prune", "--expire=now"])
                try await bench.release("go")
                _ = try await bench.pipectl("logs", "2", "--follow")
                let run = try await bench.run(2)
                #expect(run.verdict == .infrastructure)
                #expect(run.reason?.contains("commit \(head.prefix(10)) is no longer in the repository") == true)
                #expect(run.reason?.contains("Push it again.") == true)
                #expect(try await bench.run(1).verdict == .passed)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `runs wait while the disk is nearly full, and status names the reason`() async throws {
        try await Bench.with { bench in
            try await bench.withDaemon("--minimum-free", "1000000000") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.diskFull)
                try await daemon.event(.runQueued, run: 1)
                let status = try await bench.pipectl("status")
                #expect(status.output.contains("nothing starts: the disk of \(bench.home) is nearly full"))
                #expect(status.output.contains("queued   1  test"))
                #expect(daemon.text.contains("Free space, or remove old runs with `pipectl gc`"))
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.run(1).state == .queued)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a second daemon on the same state folder is refused`() async throws {
        try await Bench.with { bench in
            try await bench.withDaemon { daemon in
                let second = try await bench.pipectl("watch", bench.repository)
                #expect(second.code == 3)
                #expect(second.errors.contains("Another pipectl (pid \(daemon.child.id), `watch`) owns"))
                #expect(second.errors.contains("pipectl status"))
                #expect(await daemon.stop() == 0)
            }
        }
    }

    /// A foreground run owns the state for a while; a daemon that is started meanwhile waits.
    @Test(.timeLimit(.minutes(6)))
    func `a daemon waits until a foreground run has ended`() async throws {
        try await Bench.with(["README.md": "begin\n"]) { bench in
            let step = "Step(\"one\", run: \"echo here > \(bench.meet)/begun; cat \(bench.meet)/go\")"
            try await bench.commit(Workflows.test(step), "Workflows")
            for name in ["begun", "go"] { try bench.meetingPoint(name) }
            async let run = bench.command(
                [Bench.pipectl, "run", "test", "--minimum-free", "0"], in: bench.repository, within: .seconds(120))
            try await bench.arrival(at: "begun")
            let owner = try String(contentsOfFile: "\(bench.home)/lock", encoding: .utf8)
            let pid = try #require(owner.split(separator: " ").first)

            let given = try waiting(bench)
            let daemon = try waiting(bench)
            for waiting in [given, daemon] {
                let said = try await waiting.event(.waitingForState)
                #expect(said.message.contains("(pid \(pid))"), "\(said)")
            }
            // Not SIGINT, which shells make background commands ignore; nothing handles either signal here.
            #expect(await given.stop() == 143, "SIGTERM, as its shell would say it")
            #expect(daemon.events(.watching).isEmpty)

            try await bench.release("go")
            #expect(try await run.code == 0)
            try await daemon.event(.watching)
            #expect(daemon.events(.waitingForState).count == 1, "\(daemon.text)")
            let second = try await bench.pipectl("watch", bench.repository)
            #expect(second.code == 3 && second.errors.contains("pid \(daemon.child.id)"), "\(second.errors)")
            #expect(await daemon.stop() == 0)
        }
    }

    /// A `watch` that may not be watching yet.
    private func waiting(_ bench: Bench) throws -> Bench.Daemon {
        try bench.start([
            Bench.pipectl, "watch", "--no-refresh", "--minimum-free", "0", "--interval", "3600", bench.repository,
        ])
    }

    private func status(_ bench: Bench) async throws -> Status {
        let ended = try await bench.pipectl("status", "--json")
        #expect(ended.code == 0, "\(ended.errors)")
        return try JSONDecoder().decode(Status.self, from: Data(ended.output.utf8))
    }

    /// The fields of `status --json` that a script would read.
    private struct Status: Decodable {
        struct Run: Decodable { var id: RunID }
        struct Repository: Decodable { var isWatched: Bool }
        var processID: Int32
        var running: [Run]
        var repositories: [Repository]
    }
}
