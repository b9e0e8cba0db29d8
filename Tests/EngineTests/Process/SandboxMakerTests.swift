#if os(Linux)
    import Foundation
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Engine

    /// Sandboxes that one `stepinit` makes, held against those that make themselves.
    @Suite(.runFolder, .enabled(if: geteuid() == 0), .timeLimit(.minutes(2)))
    struct SandboxMakerTests {
        private let maker = SandboxMaker()

        private func host(
            _ policy: SandboxPolicy = SandboxPolicy(network: .allowed), by maker: SandboxMaker?,
            networks: NetworkNamespaces? = nil, showing mounts: [SandboxMount] = [],
            change: (inout [String]) -> Void = { _ in }
        ) throws -> StepHost {
            let sandbox = Sandbox(program: nil, stepInit: RunFolder.stepInit.string, readable: [])
            var words = sandbox.command(
                policy, mounts: [SandboxMount(RunFolder.current.workspace, at: "/workspace", .write)] + mounts,
                user: try StepUsers(seed: "maker").take(), lifetime: .withSocket(groups: 0), directory: "/", [])
            change(&words)
            return StepHost(command: words, isEnclosed: true, networks: networks, maker: maker)
        }

        private func run(_ line: String, in host: StepHost) async throws -> String {
            let bytes = ByteList()
            let command = StepCommand(
                arguments: ["/bin/sh", "-c", line], workingDirectory: "/", environment: ["PATH": "/usr/bin:/bin"])
            let end = try await StepProcess(host: host, grace: .seconds(5)).run(
                command, timeout: .seconds(60), stop: StopSignal()
            ) { bytes.add($0) }
            #expect(end == ProcessEnd(exitCode: 0))
            return String(decoding: bytes.bytes, as: UTF8.self)
        }

        private func processes(_ mark: String) async throws -> Int {
            let found = try await Tool(
                "/usr/bin/pgrep", ["-c", "-f", "sleep \(mark)"], in: "/", environment: [:], deadline: .seconds(20)
            ).run()
            return try #require(Int(found.text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        /// What can be seen from inside, one thing a line.
        private static let look = """
            cut -d' ' -f4- /proc/self/mountinfo | sed 's/master:[0-9]* //; s/shared:[0-9]* //' | sort
            grep -E '^(Cap|NoNewPrivs|Seccomp|Groups|Uid|Gid|Umask|NSpid|NSsid|Sig[BIC])' /proc/self/status
            grep -E '^(Cap|NoNewPrivs|Seccomp|Groups|Uid|Gid|Umask|NSpid|NSsid|Sig[BIC]|Threads)' /proc/1/status
            tr '\\0' ' ' < /proc/1/cmdline; ls /proc/self/fd; ls / /dev; hostname; ulimit -a
            seen=$(ls /proc); echo "$seen" | grep -c '^[0-9]*$'
            for file in exe environ root cwd mem maps fd; do cat /proc/1/$file >/dev/null 2>&1 && echo $file; done; true
            """

        @Test(arguments: [NetworkAccess.allowed, .denied]) func areAsOthers(_ network: NetworkAccess) async throws {
            var seen: [String] = []
            for maker in [nil, maker] {
                let networks = network == .denied ? NetworkNamespaces() : nil
                let host = try host(SandboxPolicy(network: network), by: maker, networks: networks)
                try host.startNow()
                seen.append(try await run(Self.look, in: host))
                #expect(host.close())
            }
            func comparable(_ text: String) -> [Substring] {
                // Its words are shorter, and were taken away in both.
                text.split(separator: "\n").map { $0.hasPrefix("stepinit ") ? "stepinit" : $0 }
            }
            #expect(seen[0].contains("/workspace") && seen[0].contains("stepinit"))
            let (own, made) = (comparable(seen[0]), comparable(seen[1]))
            #expect(made.difference(from: own).isEmpty)
            #expect(!seen[1].contains("enclos"))
        }

        @Test func eachHasNothingOfTheOthers() async throws {
            let hosts = try (0..<4).map { _ in try host(by: maker) }
            for host in hosts { try host.startNow() }
            for (number, host) in hosts.enumerated() { _ = try await run("echo \(number) > /tmp/own", in: host) }
            #expect(hosts[1].close())
            for (number, host) in hosts.enumerated() where number != 1 {
                #expect(try await run("cat /tmp/own; ls /tmp", in: host) == "\(number)\nown\n")
            }
            for host in hosts { #expect(host.close()) }
        }

        private func makeFolder(_ name: String, _ text: String) throws -> String {
            let path = RunFolder.current.root + "/" + name
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/text"))
            return path
        }

        @Test func whatIsARunsOwnNoOtherRunIsShown() async throws {
            let hosts = try (0..<3).map { number in
                let own = SandboxMount(try makeFolder("own-\(number)", "\(number)\n"), at: "/own").asOwn
                let common = SandboxMount(try makeFolder("common", "common\n"), at: "/common")
                // In another one's place, and above one.
                let inner = SandboxMount(try makeFolder("inner-\(number)", "inner \(number)\n"), at: "/common/inner")
                    .asOwn
                _ = try makeFolder("common/inner", "hidden\n")
                return try host(by: maker, showing: [common, own, inner])
            }
            for host in hosts { try host.startNow() }
            for (number, host) in hosts.enumerated() {
                let seen = try await run(
                    "cat /own/text /common/text /common/inner/text; touch /own/x /common/x /x /dev/x 2>/dev/null || echo no",
                    in: host)
                #expect(seen == "\(number)\ncommon\ninner \(number)\nno\n")
            }
            for host in hosts { #expect(host.close()) }
        }

        @Test func theOrderOfMountsIsKept() async throws {
            let below = SandboxMount(try makeFolder("below", "below\n"), at: "/place/below")
            _ = try makeFolder("place/below", "hidden\n")
            let place = SandboxMount(try makeFolder("place", "place\n"), at: "/place", .write)
            for (mounts, seen) in [([place, below], "below"), ([below, place], "hidden")] {
                for maker in [nil, maker] {
                    let host = try host(by: maker, showing: mounts)
                    #expect(try await run("cat /place/below/text", in: host) == seen + "\n")
                    #expect(host.close())
                }
            }
        }

        @Test func whatIsCommonIsShownAsItIsNow() async throws {
            let path = try makeFolder("common", "old\n")
            let mounts = [SandboxMount(path, at: "/common")]
            let first = try host(by: maker, showing: mounts)
            #expect(try await run("cat /common/text", in: first) == "old\n")
            try FileManager.default.moveItem(atPath: path, toPath: path + "-old")
            _ = try makeFolder("common", "new\n")
            let second = try host(by: maker, showing: mounts)
            #expect(try await run("cat /common/text", in: second) == "new\n")
            // What the box mounts there is in the next one.
            let (other, place) = (try makeFolder("other", "mounted\n"), try makeFolder("common/place", "hidden\n"))
            #expect(mount(other, place, nil, UInt(MS_BIND), nil) == 0)
            defer { umount2(place, Int32(MNT_DETACH)) }
            let third = try host(by: maker, showing: mounts)
            #expect(try await run("cat /common/place/text", in: third) == "mounted\n")
            #expect(try await run("cat /common/text", in: first) == "old\n")
            // What was a folder may be a file, and nothing at all.
            #expect(umount2(place, Int32(MNT_DETACH)) == 0)
            try FileManager.default.removeItem(atPath: path)
            try Data("file\n".utf8).write(to: URL(fileURLWithPath: path))
            let fourth = try host(by: maker, showing: mounts)
            #expect(try await run("cat /common", in: fourth) == "file\n")
            for host in [first, second, third, fourth] { #expect(host.close()) }
        }

        @Test func nothingOutlivesAnEnd() async throws {
            let mark = "86396\(UInt16.random(in: 0...999))"
            let host = try host(by: maker)
            try host.startNow()
            // What it leaves, as a warden does not, is the kernel's to end.
            _ = try await run("setsid sleep \(mark) >/dev/null 2>&1 & true", in: host)
            #expect(host.close())
            #expect(try await processes(mark) == 0)
        }

        /// By a name of its own it can be found: others run beside this.
        private func copyOfStepInit() async throws -> (name: String, program: String) {
            let name = "stepinit\(UInt16.random(in: 10_000...65_000))"
            let program = RunFolder.current.root + "/" + name
            // By another process: what this one has open for writing, a child of another test may have, too, and a program
            // that is open for writing can't be started.
            let copied = try await Tool(
                "/bin/cp", [RunFolder.stepInit.string, program], in: "/", environment: [:], deadline: .seconds(20)
            ).run()
            #expect(copied.succeeded)
            return (name, program)
        }

        @Test func oneThatHasEndedIsStartedAgain() async throws {
            let (name, program) = try await copyOfStepInit()
            let first = try host(by: maker) { $0[0] = program }
            try first.startNow()
            #expect(try await run("echo here", in: first) == "here\n")
            let killed = try await Tool(
                "/usr/bin/pkill", ["-KILL", "-P", String(getpid()), "-o", "-x", name], in: "/", environment: [:],
                deadline: .seconds(20)
            ).run()
            #expect(killed.succeeded)
            // The sandbox is nobody's but ours.
            #expect(try await run("echo still here", in: first) == "still here\n")
            let second = try host(by: maker) { $0[0] = program }
            #expect(try await run("echo here", in: second) == "here\n")
            for host in [first, second] { #expect(host.close()) }
        }

        @Test func oneThatDoesNotAnswerIsDoneWithout() async throws {
            let (name, program) = try await copyOfStepInit()
            let maker = SandboxMaker(patience: .milliseconds(300))
            let first = try host(by: maker) { $0[0] = program }
            try first.startNow()
            let stopped = try await Tool(
                "/usr/bin/pkill", ["-STOP", "-P", String(getpid()), "-o", "-x", name], in: "/", environment: [:],
                deadline: .seconds(20)
            ).run()
            #expect(stopped.succeeded)
            let hosts = try (0..<3).map { _ in try host(by: maker) { $0[0] = program } }
            for host in hosts { #expect(try await run("echo here", in: host) == "here\n") }
            for host in [first] + hosts { #expect(host.close()) }
        }

        @Test func aMistakeInTheWordsIsThatSandboxsAlone() async throws {
            let broken = try host(by: maker) { $0.insert("--no-such-option", at: 2) }
            await #expect(throws: (any Error).self) { try await run("echo here", in: broken) }
            _ = broken.close()
            let missing = try host(by: maker) { $0.insert(contentsOf: ["--ro-bind", "/nonexistent", "/x"], at: 2) }
            await #expect(throws: (any Error).self) { try await run("echo here", in: missing) }
            _ = missing.close()
            let good = try host(by: maker)
            #expect(try await run("echo here", in: good) == "here\n")
            #expect(good.close())
        }

        @Test func limitsAreThoseOfItsStart() async {
            // In a process of its own, whose limits nobody else has.
            await #expect(processExitsWith: .success) {
                let maker = SandboxMaker()
                let sandbox = Sandbox(program: nil, stepInit: RunFolder.stepInit.string, readable: [])
                for limit in [UInt(1) << 40, 1 << 39] {
                    var bytes = rlimit(rlim_cur: limit, rlim_max: 1 << 40)
                    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &bytes)
                    let host = StepHost(
                        command: sandbox.command(
                            SandboxPolicy(), mounts: [], user: try StepUsers(seed: "maker").take(),
                            lifetime: .withSocket(groups: 0), directory: "/", []),
                        isEnclosed: true, maker: maker)
                    let said = ByteList()
                    let command = StepCommand(
                        arguments: ["/bin/sh", "-c", "ulimit -Sf"], workingDirectory: "/", environment: [:])
                    _ = try await StepProcess(host: host, grace: .seconds(5)).run(
                        command, timeout: .seconds(60), stop: StopSignal()
                    ) { said.add($0) }
                    // In blocks of 512 bytes.
                    #expect(String(decoding: said.bytes, as: UTF8.self) == "\(limit / 512)\n")
                    #expect(host.close())
                }
            }
        }
    }
#endif
