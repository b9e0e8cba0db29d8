#if os(Linux)
    import Foundation
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Engine

    /// Lines whose shells are forked from one that is started already, held against those that are started anew.
    @Suite(.runFolder, .timeLimit(.minutes(1))) struct ForkServerTests {
        private struct Box: Sendable {
            let host = StepHost(command: [RunFolder.stepInit.string])
            var limits = ProcessLimits()

            static var withoutServers: Box {
                var box = Box()
                box.limits.hasFewProcesses = true
                return box
            }

            func run(_ line: String, _ environment: [String: String] = [:]) async throws -> (
                end: ProcessEnd, text: String
            ) {
                let bytes = ByteList()
                var command = StepCommand(
                    arguments: ["/bin/sh", "-ec", line], workingDirectory: FilePath(RunFolder.current.workspace),
                    environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 })
                command.limits = limits
                let end = try await StepProcess(host: host, grace: .seconds(5)).run(
                    command, timeout: .seconds(30), stop: StopSignal()
                ) { bytes.add($0) }
                return (end, String(decoding: bytes.bytes, as: UTF8.self))
            }

            /// The process that forks for lines: each warden has its own after some of them, and a line may get another warden
            /// than the one before it had.
            func server() async throws -> pid_t {
                for _ in 1...100 {
                    if let pid = try await serverOfItsWarden() { return pid }
                }
                throw Missing()
            }

            private struct Missing: Error {}

            private func serverOfItsWarden() async throws -> pid_t? {
                try await run(
                    """
                    for pid in $(cat /proc/$PPID/task/$PPID/children); do
                        test $pid = $$ || echo $pid
                    done
                    """
                ).text.split(separator: "\n").first.flatMap { pid_t($0) }
            }
        }

        /// With a warden that has a server.
        private func withServer<Value>(_ body: (Box, _ server: pid_t) async throws -> Value) async throws -> Value {
            let box = Box()
            defer { _ = box.host.close() }
            return try await body(box, try await box.server())
        }

        @Test func aForkedShellIsAsOneThatIsStarted() async throws {
            // Everything that a process has of its own and can say, but numbers that are never the same. Of its signals one
            // that it starts tells: while it starts that, a shell may hold its own back.
            let line = """
                env | sort; echo "$0 $# $-"; pwd; umask; ulimit -a; ls /proc/self/fd | wc -l
                readlink /proc/$$/fd/0; test "$(readlink /proc/$$/fd/1)" = "$(readlink /proc/$$/fd/2)"
                cat /proc/$$/comm; tr '\\0' '~' < /proc/$$/cmdline; tr '\\0' '\\n' < /proc/$$/environ | sort
                grep -E '^(Umask|Groups|Sig[PBIC]|Shd|Cap|NoNewPrivs|Seccomp|Cpus_allowed|Threads|Uid|Gid)' /proc/self/status
                cat /proc/$$/cgroup /proc/$$/oom_score_adj; stat -c %U /proc/$$/maps
                test "$(cut -d' ' -f6 /proc/$$/stat)" = $$ && test "$(cut -d' ' -f5 /proc/$$/stat)" = $$
                """
            let wasForked = "grep -c forkserver /proc/$$/maps || :"
            let (box, plain) = (Box(), Box.withoutServers)
            defer { for box in [box, plain] { _ = box.host.close() } }
            let environment = ["A": "b\nc", "empty": "", "TZ": "Asia/Tokyo", "LC_ALL": "C"]
            let started = try await plain.run(line, environment)
            #expect(started.end == ProcessEnd(exitCode: 0))
            #expect(started.text.contains("TZ=Asia"))
            #expect(try await plain.run(wasForked).text == "0\n")
            var forks = 0
            for _ in 1...100 where forks < 3 {
                let forked = try await box.run(line, environment)
                #expect(forked.end == ProcessEnd(exitCode: 0))
                #expect(forked.text == started.text)
                if try await box.run(wasForked).text != "0\n" { forks += 1 }
            }
            #expect(forks == 3)
            var numbers: Set<String> = []
            for _ in 1...3 { numbers.insert(try await box.run("echo $$").text) }
            #expect(numbers.count == 3)
        }

        @Test func whatALineChangesOfItselfTheNextHasNot() async throws {
            try await withServer { box, _ async throws in
                let look = "pwd; umask; env; ulimit -n; echo $-; trap; command -v f || :"
                let before = try await box.run(look).text
                let end = try await box.run(
                    "cd /; umask 077; export A=b; ulimit -n 50; trap 'exit 9' EXIT TERM; f() { :; }; set +e; readonly PATH"
                ).end
                #expect(end == ProcessEnd(exitCode: 9))
                #expect(try await box.run(look).text == before)
            }
        }

        @Test(arguments: [0, 1, 7, 127, 255]) func exitCodesComeThrough(code: Int32) async throws {
            try await withServer { box, _ async throws in
                #expect(try await box.run("exit \(code)").end == ProcessEnd(exitCode: code))
            }
        }

        @Test(arguments: [SIGKILL, SIGTERM, SIGSEGV]) func signalsComeThrough(signal: Int32) async throws {
            try await withServer { box, _ async throws in
                #expect(try await box.run("kill -\(signal) $$").end == ProcessEnd(signal: signal))
            }
        }

        @Test func limitsAreThoseOfTheLine() async throws {
            try await withServer { box, _ async throws in
                var small = box
                small.limits.fileSize = 4096
                let end = try await small.run("head -c 5000 /dev/zero > file").end
                #expect(end.exitCode != 0)
                #expect(try await box.run("head -c 5000 /dev/zero > file").end == ProcessEnd(exitCode: 0))
            }
        }

        @Test func whatALineLeavesIsEnded() async throws {
            try await withServer { box, _ async throws in
                let left = try await box.run("sleep 60 >/dev/null 2>&1 & echo $!").text
                let pid = try #require(pid_t(left.dropLast()))
                #expect(kill(pid, 0) != 0 && errno == ESRCH)
                #expect(try await box.run("echo there").text == "there\n")
            }
        }

        @Test func aFolderThatIsGoneIsSaid() async throws {
            try await withServer { box, _ async throws in
                let command = StepCommand(
                    arguments: ["/bin/sh", "-ec", ":"], workingDirectory: "/nowhere", environment: [:])
                await #expect(throws: StepProcessProblem.self) {
                    _ = try await StepProcess(host: box.host, grace: .seconds(5)).run(
                        command, timeout: .seconds(30), stop: StopSignal()
                    ) { _ in }
                }
                #expect(try await box.run("echo there").text == "there\n")
            }
        }

        /// The loader reads them before a process has a `main`.
        @Test(arguments: ["LD_LIBRARY_PATH", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX"])
        func variablesOfTheLoaderStartAShell(name: String) async throws {
            try await withServer { box, _ async throws in
                let said = try await box.run("echo $\(name); grep -c forkserver /proc/$$/maps || :", [name: "1"]).text
                #expect(said == "1\n0\n")
            }
        }

        @Test func longLinesAndManyVariablesStartAShell() async throws {
            try await withServer { box, _ async throws in
                func wasForked(_ bytes: Int, variables: Int) async throws -> Bool {
                    let many = Dictionary(uniqueKeysWithValues: (0..<variables).map { ("V\($0)", "x") })
                    let line = "grep -c forkserver /proc/$$/maps || :; env | grep -c ^V || :; : "
                    let padding = String(repeating: "y", count: bytes - line.utf8.count)
                    let said = try await box.run(line + padding, many).text.split(separator: "\n")
                    #expect(said.last == "\(variables)")
                    return said.first != "0"
                }
                #expect(try await wasForked(30_000, variables: 0))
                #expect(try await wasForked(1_000, variables: 510))
                #expect(try await !wasForked(33_000, variables: 0))
                #expect(try await !wasForked(1_000, variables: 600))
            }
        }

        @Test func whereFewProcessesMayBeThereIsNone() async throws {
            try await withServer { box, server async throws in
                var small = box
                small.limits.hasFewProcesses = true
                let count = "cat /proc/$PPID/task/$PPID/children | wc -w; grep -c forkserver /proc/$$/maps || :"
                for _ in 1...4 { #expect(try await small.run(count).text == "1\n0\n") }
                #expect(kill(server, 0) != 0 && errno == ESRCH)
            }
        }

        @Test func oneThatAStepStoppedHoldsNothingUp() async throws {
            try await withServer { box, server async throws in
                #expect(try await box.run("kill -STOP \(server)").end == ProcessEnd(exitCode: 0))
                #expect(try await box.run("echo there").text == "there\n")
                #expect(kill(server, 0) != 0 && errno == ESRCH)
            }
        }

        @Test func oneThatIsEndedMeanwhileLosesNoLine() async throws {
            // Its process ends between its fork and its answer, before or after; each line is there once in any case.
            try await withServer { box, _ async throws in
                for number in 1...60 {
                    let server = try await box.server()
                    async let killed: Void = Task.detached {
                        for _ in 0..<(number % 20) * 40 { sched_yield() }; kill(server, SIGKILL)
                    }.value
                    let end = try await box.run("echo \(number) >> lines").end
                    await killed
                    #expect(end == ProcessEnd(exitCode: 0))
                }
                let expected = (1...60).map { "\($0)\n" }.joined()
                #expect(RunFolder.current.text("lines") == expected)
            }
        }

        @Test func oneThatAStepEndedIsStartedAgain() async throws {
            try await withServer { box, server async throws in
                #expect(try await box.run("kill -9 \(server)").end == ProcessEnd(exitCode: 0))
                #expect(try await box.run("echo there").text == "there\n")
                #expect(try await box.server() != server)
            }
        }

        @Test func oneThatAStepChangedServesNoMore() async throws {
            try await withServer { box, server async throws in
                let line = "ulimit -n"
                let before = try await box.run(line).text
                let change = try await box.run("prlimit --pid \(server) --nofile=64:64; renice -n 5 -p \(server)")
                #expect(change.end == ProcessEnd(exitCode: 0), "\(change.text)")
                #expect(try await box.run(line).text == before)
                #expect(try await box.run("nice").text == "0\n")
                #expect(kill(server, 0) != 0 && errno == ESRCH)
            }
        }

        @Test func itEndsWithItsRun() async throws {
            let server = try await withServer { $1 }
            #expect(kill(server, 0) != 0 && errno == ESRCH)
        }

        @Test func nobodyLooksIntoIt() async throws {
            try await withServer { box, server async throws in
                _ = try await box.run(":", ["SECRET": "hidden-7321"])
                // Root may read anything; the owner says whether others may.
                let said = try await box.run(
                    "stat -c %u:%g /proc/\(server)/mem; tr '\\0' '\\n' < /proc/\(server)/environ || :")
                #expect(said.text.hasPrefix("0:0\n") || geteuid() != 0)
                #expect(!said.text.contains("hidden-7321"))
            }
        }
    }
#endif
