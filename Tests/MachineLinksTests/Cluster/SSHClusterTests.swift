#if os(Linux)
    import Foundation
    import MachinePool
    import Machines
    import TestBasics
    import Testing

    @testable import MachineLinks

    extension ClusterTests.SSH {
        /// A host of the cluster, with its key pinned.
        fileprivate struct Host {
            let cluster: TestCluster
            let address: SSHAddress
            let folder: TemporaryFolder
            var settings: SSHSettings

            init(_ number: Int = 1, isPinned: Bool = true) async throws {
                cluster = try #require(TestCluster.current)
                address = try SSHAddress("ssh://root@\(try cluster.address(number))")
                folder = try TemporaryFolder()
                settings = SSHSettings(
                    knownHosts: folder["known_hosts"], identity: cluster.environment["PIPECTL_CLUSTER_KEY"],
                    sockets: folder["s"], environment: cluster.environment)
                settings.idle = 5
                if isPinned {
                    let keys = try await HostKeys.shown(by: address, environment: cluster.environment)
                    try KnownHosts(settings.knownHosts).pin(keys, for: address)
                }
            }

            func link(_ agent: StandInAgent) -> SSHLink { SSHLink(address, settings, agent.programs) }

            /// Starts the agent, runs `body` with it, ends it, and checks that nothing is left.
            func talk(
                to agent: StandInAgent, _ body: (Talk) async throws -> Void = { _ in }
            ) async throws -> String? {
                let link = link(agent)
                let talk = Talk(try await link.start())
                do { try await body(talk) } catch {
                    _ = await talk.stream.end()
                    await link.close()
                    throw error
                }
                let reason = await talk.stream.end()
                await link.close()
                try await agent.expectNothingLeft()
                return reason
            }

            /// The code of the problem because of which no agent starts.
            func problem(_ agent: StandInAgent) async throws -> ReachProblem.Code? {
                let link = link(agent)
                do {
                    let stream = try await link.start()
                    _ = await stream.end()
                    await link.close()
                    return nil
                } catch let problem as ReachProblem {
                    await link.close()
                    return problem.code
                }
            }
        }

        // MARK: Without faults

        @Test func bytesReachTheAgentAndComeBackUnchanged() async throws {
            let host = try await Host()
            let bytes = (0..<1_000_000).map { _ in UInt8.random(in: 0...255) }
            let reason = try await host.talk(to: StandInAgent("cat")) { talk in
                async let sent: Void = talk.write(bytes)
                let back = try await talk.read { $0.count >= bytes.count }
                try await sent
                #expect(back == bytes)
            }
            #expect(reason == nil)
        }

        @Test func theAgentIsPutThereOnceAndEndsWithItsInput() async throws {
            let host = try await Host()
            let agent = try StandInAgent()
            for _ in 1...2 {
                let reason = try await host.talk(to: agent) { talk in
                    let (greeting, answer) = (try await talk.line(), try await talk.say("a b"))
                    #expect(greeting == "hello from host1")
                    #expect(answer == "a b")
                }
                #expect(reason == nil)
            }
            let folder = "\(NSHomeDirectory())/.cache/pipectl/\(agent.programs[0].folder)"
            let names = try await host.cluster.run("inside", "host1", "ls", "-A", folder)
            #expect(names.split(separator: "\n") == ["complete", "pipectl-agent", "stepinit"])
        }

        @Test func severalAgentsShareOneConnection() async throws {
            let host = try await Host()
            let agent = try StandInAgent()
            let link = host.link(agent)
            let first = Talk(try await link.start())
            let begin = ContinuousClock.now
            let second = Talk(try await link.start())
            #expect(try await first.line() == "hello from host1")
            #expect(try await second.line() == "hello from host1")
            FaultTable.add("(none) ssh: a second agent over the shared connection", "starts", since: begin)
            #expect(await first.stream.end() == nil)
            #expect(try await second.say("x") == "x")
            #expect(await second.stream.end() == nil)
            await link.close()
            try await agent.expectNothingLeft()
        }

        @Test func theExitCodeOfTheAgentIsKnown() async throws {
            let host = try await Host()
            let reason = try await host.talk(to: StandInAgent("exit", "7")) {
                try await $0.waitForEnd(within: .seconds(20))
            }
            #expect(reason?.contains("exit code 7") == true)
        }

        @Test func aMachineShowsItsKeys() async throws {
            let host = try await Host(isPinned: false)
            let keys = try await HostKeys.shown(by: host.address, environment: host.cluster.environment)
            let own = try String(contentsOfFile: "\(host.cluster.folder)/ssh/host1.pub", encoding: .utf8)
            #expect(keys.map(\.text) == [own.split(separator: " ").map(String.init)[1]])
            #expect(try await SSHLink(host.address, host.pinned(keys), []).platform() == MachinePlatform.own)
        }

        // MARK: Keys

        @Test func anotherHostKeyIsRefused() async throws {
            let begin = ContinuousClock.now
            let host = try await Host(isPinned: false)
            let other = try SSHAddress("root@\(try host.cluster.address(2))")
            let keys = try await HostKeys.shown(by: other, environment: host.cluster.environment)
            try KnownHosts(host.settings.knownHosts).pin(keys, for: host.address)
            let code = try await host.problem(StandInAgent())
            #expect(code == .hostKeyChanged)
            FaultTable.add("ssh: the host key changed", code?.rawValue ?? "started", since: begin)
        }

        @Test func aHostWithoutAPinnedKeyIsRefused() async throws {
            let begin = ContinuousClock.now
            let code = try await Host(isPinned: false).problem(StandInAgent())
            #expect(code == .hostKeyUnknown)
            FaultTable.add("ssh: no host key is pinned", code?.rawValue ?? "started", since: begin)
        }

        @Test func aKeyThatTheHostDoesNotKnowIsRefused() async throws {
            let begin = ContinuousClock.now
            var host = try await Host()
            try await runCommand("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", host.folder["other"])
            host.settings.identity = host.folder["other"]
            let code = try await host.problem(StandInAgent())
            #expect(code == .keyRefused)
            FaultTable.add("ssh: our key is refused", code?.rawValue ?? "started", since: begin)
        }

        // MARK: The network

        @Test func aHostWithoutNetworkIsUnreachable() async throws {
            let begin = ContinuousClock.now
            var host = try await Host()
            host.settings.connectLimit = 2
            try await host.cluster.run("cut", "1")
            let code: ReachProblem.Code?
            do { code = try await host.problem(StandInAgent()) } catch {
                try await host.cluster.run("mend", "1")
                throw error
            }
            try await host.cluster.run("mend", "1")
            #expect(code == .unreachable)
            FaultTable.add("ssh: no network before the connection", code?.rawValue ?? "started", since: begin)
        }

        @Test func aCutOfFiveSecondsIsSurvived() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let reason = try await host.talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                try await host.cluster.run("cut", "1")
                try await talk.write(Array("during\n".utf8))
                // The length of the fault.
                try await Task.sleep(for: .seconds(5))
                try await host.cluster.run("mend", "1")
                #expect(try await talk.line() == "during")
                #expect(try await talk.say("after") == "after")
            }
            #expect(reason == nil)
            FaultTable.add("ssh: the network is cut for 5 s", "goes on, nothing lost", since: begin)
        }

        @Test func aCutThatLastsEndsTheStreamAndTheNextOneStarts() async throws {
            let begin = ContinuousClock.now
            var host = try await Host()
            (host.settings.askEvery, host.settings.unanswered) = (1, 3)
            let agent = try StandInAgent()
            let link = host.link(agent)
            let talk = Talk(try await link.start())
            _ = try await talk.line()
            try await host.cluster.run("cut", "1")
            do { try await talk.waitForEnd(within: .seconds(30)) } catch {
                try await host.cluster.run("mend", "1")
                throw error
            }
            let reason = await talk.stream.end()
            #expect(reason != nil)
            FaultTable.add("ssh: the network stays away (limit 3 s)", reason ?? "no reason", since: begin)
            try await host.cluster.run("mend", "1")
            #expect(try await host.problem(StandInAgent()) == nil)
            // The server there learns of the end as soon as a packet reaches it.
            try await agent.expectNothingLeft()
        }

        // MARK: Processes

        @Test func aKilledClientLeavesNothing() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let agent = try StandInAgent()
            let reason = try await host.talk(to: agent) { talk in
                _ = try await talk.line()
                let client = try #require(processes(named: "ssh").first { agent.marker.processes.contains($0) })
                #expect(kill(client, SIGKILL) == 0)
                try await talk.waitForEnd(within: .seconds(20))
            }
            #expect(reason?.contains("signal 9") == true)
            FaultTable.add("ssh: kill -9 of the client", reason ?? "no reason", since: begin)
        }

        @Test func whenNobodyHoldsTheStreamTheAgentEnds() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let agent = try StandInAgent()
            // As when this process dies: the socket closes, and nobody ends anything.
            _ = try await host.link(agent).start()
            try await agent.expectNothingLeft()
            FaultTable.add("ssh: the daemon dies (its end of the stream closes)", "nothing left", since: begin)
            await host.link(agent).close()
        }

        @Test func aKilledSharedConnectionEndsItsStreamsAndTheNextIsMade() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let agent = try StandInAgent()
            let reason = try await host.talk(to: agent) { talk in
                _ = try await talk.line()
                // The process of the shared connection has its socket as its title.
                let masters = processes(named: "ssh").filter { commandLine(of: $0).contains("[mux]") }
                let own = masters.filter { commandLine(of: $0).contains(host.settings.sockets) }
                #expect(own.count == 1)
                for id in own { #expect(kill(id, SIGKILL) == 0) }
                try await talk.waitForEnd(within: .seconds(20))
            }
            #expect(reason != nil)
            FaultTable.add("ssh: kill -9 of the shared connection", reason ?? "no reason", since: begin)
            #expect(try await host.problem(agent) == nil)
        }

        @Test func aHostThatCrashesEndsTheStreamAndIsUsedAgain() async throws {
            let begin = ContinuousClock.now
            var host = try await Host(2)
            (host.settings.askEvery, host.settings.unanswered) = (1, 3)
            let agent = try StandInAgent()
            let reason = try await host.talk(to: agent) { talk in
                _ = try await talk.line()
                try await host.cluster.kill("host2")
                try await talk.waitForEnd(within: .seconds(30))
            }
            #expect(reason != nil)
            FaultTable.add("ssh: the host crashes", reason ?? "no reason", since: begin)
            try await host.cluster.run("start")
            let again = try await host.talk(to: agent) { talk in
                let greeting = try await talk.line()
                #expect(greeting == "hello from host2")
            }
            #expect(again == nil)
        }

        // MARK: The place there

        @Test func aFullDiskIsToldApart() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let cluster = host.cluster
            try await cluster.run("inside", "host1", "mkdir", "-p", "\(NSHomeDirectory())/.cache")
            try await cluster.run(
                "inside", "host1", "mount", "-t", "tmpfs", "-o", "size=16k", "small",
                "\(NSHomeDirectory())/.cache")
            let code: ReachProblem.Code?
            do { code = try await host.problem(StandInAgent(padding: 64 << 10)) } catch {
                try await cluster.run("inside", "host1", "umount", "\(NSHomeDirectory())/.cache")
                throw error
            }
            let left = try await cluster.run("inside", "host1", "sh", "-c", "find ~/.cache -type f")
            #expect(left.isEmpty)
            try await cluster.run("inside", "host1", "umount", "\(NSHomeDirectory())/.cache")
            #expect(code == .diskFull)
            FaultTable.add("ssh: the disk there is full", code?.rawValue ?? "started", since: begin)
        }

        @Test func aShellThatPrintsDoesNoHarm() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            try await host.cluster.run("inside", "host1", "sh", "-c", "echo 'echo welcome' >~/.bashrc")
            let reason = try await host.talk(to: StandInAgent()) { talk in
                let bytes = try await talk.read { $0.count { $0 == UInt8(ascii: "\n") } == 2 }
                #expect(String(decoding: bytes, as: UTF8.self) == "welcome\nhello from host1\n")
            }
            try await host.cluster.run("inside", "host1", "sh", "-c", "rm ~/.bashrc")
            #expect(reason == nil)
            FaultTable.add("ssh: the shell there prints when it starts", "starts", since: begin)
        }

        @Test func anotherPlatformWithoutAnAgentIsToldApart() async throws {
            let begin = ContinuousClock.now
            let host = try await Host()
            let agent = try StandInAgent(platform: MachinePlatform(system: "Darwin", machine: "arm64"))
            let code = try await host.problem(agent)
            #expect(code == .agentMissing)
            FaultTable.add("ssh: another platform, and no agent there", code?.rawValue ?? "started", since: begin)
        }
    }

    extension ClusterTests.SSH.Host {
        fileprivate func pinned(_ keys: [HostKey]) throws -> SSHSettings {
            try KnownHosts(settings.knownHosts).pin(keys, for: address)
            return settings
        }
    }

    func commandLine(of process: Int32) -> String {
        let bytes = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return String(decoding: bytes, as: UTF8.self).replacing("\0", with: " ")
    }

    /// The processes of programs with a name.
    func processes(named name: String) -> [Int32] {
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return ids.compactMap(Int32.init).filter { id in
            (try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8)) == name + "\n"
        }
    }
#endif
