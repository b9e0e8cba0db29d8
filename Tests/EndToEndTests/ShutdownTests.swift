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

/// SIGTERM once, twice and three times, and a daemon that is stopped for a while.
struct ShutdownTests {
    @Test(.timeLimit(.minutes(6)))
    func `the first signal drains, the second cancels, the third exits`() async throws {
        let steps = "Step(\"check\", run: \"sh check.sh\")"
        try await Bench.with(Workflows.test(steps, files: ["check.sh": ""])) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            // It waits without a child process, so that only it gets the signal; the grace period ends it.
            let stubborn = "trap '' TERM; echo up > \(bench.meet)/started; read line < \(bench.meet)/never"
            try await bench.withDaemon("--grace", "60") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": stubborn])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                #expect(try await bench.pipectl("status").code == 0, "it answers while it drains")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.cancellingRuns)
                daemon.child.signal(SIGTERM)
                #expect(await daemon.end() == 130)
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                try await bench.release("never")
                #expect(await daemon.end() == 0)
            }
            #expect(try await bench.run(1).verdict == .passed, "what runs ends first")
        }
    }

    @Test(.timeLimit(.minutes(6)), arguments: [true, false])
    func `interrupting a run cancels it, whoever does its work`(hasDaemon: Bool) async throws {
        let steps = "Step(\"check\", run: \"sh check.sh\")"
        let check = "echo up > $MEET/started; read line < $MEET/never"
        try await Bench.with(Workflows.test(steps, files: ["check.sh": ""])) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            try bench.write(["check.sh": check.replacing("$MEET", with: bench.meet)])
            func interrupted() async throws {
                let run = try Child(
                    bench.sharing([Bench.pipectl, "run", "test"]), in: bench.repository,
                    environment: bench.environment, output: "\(bench.root)/run-")
                try await bench.arrival(at: "started")
                run.signal(SIGINT)
                async let _: Void = run.kill(after: .seconds(300))
                #expect(await run.end == 130)
                #expect(try await bench.ended(1).verdict == .cancelled)
            }
            guard hasDaemon else { return try await interrupted() }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await interrupted()
                #expect(try await bench.pipectl("status").code == 0, "the daemon goes on")
            }
        }
    }

    #if os(Linux)
        /// systemd does this to a unit without `KillMode=mixed`.
        @Test(.timeLimit(.minutes(6)))
        func `a SIGTERM to the daemon and all its steps ends in time, and the run begins again`() async throws {
            try await Bench.with(Workflows.test("Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": ""])) {
                bench in
                try bench.meetingPoint("started")
                let once = """
                    [ -e \(bench.meet)/begun ] && exit 0
                    touch \(bench.meet)/begun; echo up > \(bench.meet)/started; exec sleep 1000

                    """
                try await bench.withDaemon { daemon in
                    try await daemon.event(.baseline)
                    try await bench.change(1, ["check.sh": once])
                    try await bench.arrival(at: "started")
                    try await endAll(daemon, bench)
                }
                try await bench.withDaemon { daemon in
                    let run = try await bench.ended(1)
                    #expect(run.verdict == .passed)
                    #expect(await daemon.stop() == 0)
                }
                let runs = try await bench.runs()
                #expect(runs.map(\.id) == [1] && runs.first?.attempt == 2)
            }
        }

        @Test(.timeLimit(.minutes(6)))
        func `a compiler that is stopped with the daemon is no definition error`() async throws {
            try await Bench.with { bench in
                try await bench.withDaemon { daemon in
                    try await daemon.event(.baseline)
                    try await bench.change(1, ["a.txt": "a\n"])
                    try await eventually("the compiler") { try await compiles(bench) }
                    try await endAll(daemon, bench)
                }
                try await bench.withDaemon { daemon in
                    let run = try await bench.ended(1)
                    #expect(run.verdict == .passed)
                    #expect(await daemon.stop() == 0)
                }
            }
        }

        /// Whether the compiler is compiling the bench's workflows.
        private func compiles(_ bench: Bench) async throws -> Bool {
            let listed = try await bench.command(["ps", "-eo", "args="]).output
            return listed.split(separator: "\n").contains {
                $0.contains("-frontend") && $0.contains("-module-name workflows") && $0.contains(bench.home)
            }
        }

        /// Sends SIGTERM to the daemon and to every process below it, and waits for the daemon's end.
        private func endAll(_ daemon: Bench.Daemon, _ bench: Bench) async throws {
            let all = try await processes(below: daemon.child.id, bench)
            #expect(all.count > 2)
            for process in all { kill(process, SIGTERM) }
            async let _: Void = daemon.child.kill(after: .seconds(300))
            #expect(await daemon.child.end == 0, "\(daemon.text)")
        }

        /// The process and all its descendants.
        private func processes(below id: Int32, _ bench: Bench) async throws -> [Int32] {
            let listed = try await bench.command(["ps", "-eo", "pid=,ppid="]).output
            var children: [Int32: [Int32]] = [:]
            for line in listed.split(separator: "\n") {
                let numbers = line.split(separator: " ").compactMap { Int32($0) }
                if numbers.count == 2 { children[numbers[1], default: []].append(numbers[0]) }
            }
            var found = [id]
            var next = 0
            while next < found.count {
                found += children[found[next]] ?? []
                next += 1
            }
            return found
        }
    #endif

    @Test(.timeLimit(.minutes(6)))
    func `the second signal cancels with the grace period`() async throws {
        let steps = "Step(\"check\", run: \"sh check.sh\")"
        try await Bench.with(Workflows.test(steps, files: ["check.sh": ""])) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            let polite = """
                trap 'echo tidied > \(bench.meet)/tidied; exit 1' TERM
                echo up > \(bench.meet)/started
                read line < \(bench.meet)/never
                """
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": polite])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                daemon.child.signal(SIGTERM)
                #expect(await daemon.end() == 0)
            }
            let run = try await bench.run(1)
            #expect(run.verdict == .cancelled)
            #expect(run.reason?.contains("was shut down") == true)
            #expect(FileManager.default.fileExists(atPath: "\(bench.meet)/tidied"), "it was asked first")
        }
    }

    /// A remote that accepts the connection and sends nothing: the fetch has minutes left when the signal arrives.
    @Test(.timeLimit(.minutes(6)))
    func `a signal during a fetch ends the fetching child process`() async throws {
        let listener = try SilentListener()
        defer { listener.close() }
        try await Bench.with { bench in
            let url = "git://127.0.0.1:\(listener.port)/silent.git"
            try await bench.withDaemon(url) { daemon in
                try await daemon.event(.baseline)
                var children: [Int32] = []
                try await eventually("the fetch") {
                    children = try await fetchers(bench, of: url)
                    return !children.isEmpty
                }
                let clock = ContinuousClock()
                let start = clock.now
                #expect(await daemon.stop() == 0)
                #expect(clock.now - start < .seconds(120), "it does not wait for the deadline of five minutes")
                #expect(try await fetchers(bench, of: url).isEmpty)
            }
            let refs = try await bench.git(["for-each-ref"], in: "\(bench.home)/mirrors/silent.git")
            #expect(refs.isEmpty)
            let files = try await bench.command(["find", "\(bench.home)/mirrors", "-name", "*.lock"])
            #expect(files.output.isEmpty, "no ref is half-updated")
        }
    }

    private func fetchers(_ bench: Bench, of url: String) async throws -> [Int32] {
        let listed = try await bench.command(["sh", "-c", "ps -eo pid=,args= | grep -F -e \"$0\"", "fetch-mirror"])
        return listed.output.split(separator: "\n").filter { $0.contains(url) && !$0.contains("grep") }
            .compactMap { $0.split(separator: " ").first.flatMap { Int32($0) } }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a step that ended in time while the daemon was stopped has passed`() async throws {
        let steps = "Step(\"check\", run: \"sh check.sh\").timeout(.seconds(30))"
        try await Bench.with(Workflows.test(steps, files: ["check.sh": ""])) { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(
                    1,
                    [
                        "check.sh":
                            "echo up > \(bench.meet)/started; cat \(bench.meet)/go; echo \"$PPID\" > \(bench.meet)/ended\n"
                    ])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGSTOP)
                try await bench.release("go")
                // The test is about time that passes: the limit is over when the daemon sees the clock again.
                try await Task.sleep(for: .seconds(32))
                #expect(FileManager.default.fileExists(atPath: "\(bench.meet)/ended"))
                for number in 2...4 { try await bench.change(number, ["check.sh": "echo \(number)\n"]) }
                daemon.child.signal(SIGCONT)
                for number in 2...4 { try await daemon.event(.runQueued, run: RunID(number)) }
                for number in 1...4 { _ = try await bench.pipectl("logs", "\(number)", "--follow") }
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.runs().map(\.verdict) == [.passed, .passed, .passed, .passed])
        }
    }
}

/// A server that accepts connections and never sends anything.
private struct SilentListener {
    let port: UInt16
    private let socket: Int32

    init() throws {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let number = Self.make(kind)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(number, generic, size) == 0 && listen(number, 16) == 0 && getsockname(number, generic, &size) == 0
            }
        }
        guard number >= 0, isBound else { throw Bench.Failure(description: "no port: \(errno)") }
        socket = number
        port = UInt16(bigEndian: address.sin_port)
    }

    private static func make(_ kind: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.socket(AF_INET, kind, 0)
        #else
            Glibc.socket(AF_INET, kind, 0)
        #endif
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(socket)
        #else
            _ = Glibc.close(socket)
        #endif
    }
}
