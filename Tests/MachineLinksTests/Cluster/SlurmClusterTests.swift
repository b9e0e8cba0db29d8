#if os(Linux)
    import Foundation
    import Machines
    import TestBasics
    import Testing

    @testable import MachineLinks

    extension ClusterTests.Slurm {
        /// What a test asks of Slurm.
        fileprivate struct Site {
            let cluster: TestCluster
            let slurm: SlurmCommands
            let request: SlurmRequest

            init(
                _ labels: [String] = [], cpus: Int = 1, limit: Duration = .seconds(600), avoiding nodes: [String] = []
            ) throws {
                cluster = try #require(TestCluster.current)
                slurm = SlurmCommands(environment: cluster.environment)
                request = SlurmRequest(
                    run: Int64.random(in: 1...Int64(Int32.max)), attempt: 1, owner: "test", labels: labels, cpus: cpus,
                    limit: limit, avoiding: nodes)
            }

            func link(_ agent: StandInAgent) -> SlurmLink { SlurmLink(request, slurm, agent.programs) }

            /// The jobs of the request that have nodes or may get some.
            func alive() async throws -> [SlurmJob] {
                try await slurm.jobs(named: request.name).filter(\.state.isAlive)
            }

            /// Starts the agent, runs `body` with it, ends it, and checks that neither a job nor a process is left.
            func talk(
                to agent: StandInAgent, _ body: (Talk) async throws -> Void = { _ in }
            ) async throws -> String? {
                let talk = Talk(try await link(agent).start())
                do { try await body(talk) } catch {
                    _ = await talk.stream.end()
                    throw error
                }
                let reason = await talk.stream.end()
                try await expectNothingLeft(agent)
                return reason
            }

            func expectNothingLeft(_ agent: StandInAgent) async throws {
                try await agent.expectNothingLeft()
                try await eventually("the end of the allocation", within: .seconds(60)) { try await alive().isEmpty }
            }

            /// Takes all processors, with jobs that Slurm has written down.
            func occupy() async throws {
                for _ in 1...4 {
                    try await cluster.command([
                        "sbatch", "--parsable", "--no-requeue", "-J", "occupied", "--exclusive", "--nodes=1",
                        "--chdir=/",
                        "--output=/dev/null", "--wrap", "exec sleep infinity",
                    ])
                }
                try await eventually("four jobs that run") {
                    try await slurm.jobs(named: "occupied").count {
                        if case .running = $0.state { true } else { false }
                    }
                        == 4
                }
            }

            /// Submits a job that only changes what slurmctld has to write down.
            func submitAnother() async throws {
                try await cluster.command([
                    "sbatch", "--parsable", "-J", "another", "--chdir=/", "--output=/dev/null", "--wrap", "true",
                ])
            }

            func vacate() async throws { try await cluster.command(["scancel", "-n", "occupied"]) }

            /// Starts what is missing and gives back nodes that Slurm took out of service.
            func mend() async throws {
                try await cluster.run("start")
                for node in try await slurm.nodes() where !node.isUsable {
                    _ = try? await cluster.command(["scontrol", "update", "nodename=\(node.name)", "state=resume"])
                }
                try await eventually("four usable nodes", within: .seconds(60)) {
                    try await slurm.nodes().count(where: \.isUsable) == 4
                }
            }
        }

        // MARK: Without faults

        @Test func theAgentRunsOnANodeWithTheLabel() async throws {
            let site = try Site(["macos"])
            let begin = ContinuousClock.now
            let reason = try await site.talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                FaultTable.add("(none) Slurm: allocation and agent", "starts", since: begin)
                guard case .running(let node)? = try await site.alive().first?.state else {
                    Issue.record("no job runs")
                    return
                }
                #expect(node == "node4")
                #expect(try await talk.say("a b") == "a b")
            }
            #expect(reason == nil)
        }

        @Test func bytesReachTheAgentAndComeBackUnchanged() async throws {
            let bytes = (0..<1_000_000).map { _ in UInt8.random(in: 0...255) }
            let reason = try await Site().talk(to: StandInAgent("cat")) { talk in
                async let sent: Void = talk.write(bytes)
                let back = try await talk.read { $0.count >= bytes.count }
                try await sent
                #expect(back == bytes)
            }
            #expect(reason == nil)
        }

        @Test func itIsKnownThatTheAgentHasFailed() async throws {
            let reason = try await Site().talk(to: StandInAgent("exit", "7")) {
                try await $0.waitForEnd(within: .seconds(20))
            }
            #expect(reason?.contains("failed") == true, "\(reason ?? "no reason")")
        }

        @Test func nodesAreListedWithWhatTheyOffer() async throws {
            let nodes = try await Site().slurm.nodes()
            #expect(nodes.map(\.name).sorted() == ["node1", "node2", "node3", "node4"])
            #expect(nodes.first { $0.name == "node4" }?.features == ["node", "macos", "arm64"])
            #expect(nodes.allSatisfy { $0.cpus == 2 && $0.memory == 1_000 && $0.isOfDefault && !$0.isOut })
            let known = try await Site().slurm.architectures()
            #expect(nodes.allSatisfy { known[$0.name] == MachinePlatform.own?.architecture })
        }

        @Test func anAvoidedNodeIsNotUsed() async throws {
            let site = try Site(["arm64"], avoiding: ["node4"])
            let reason = try await site.talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                #expect(try await site.alive().map(\.state) == [.running(node: "node3")])
            }
            #expect(reason == nil)
        }

        // MARK: Requests

        @Test func aLabelThatNoNodeHasIsRefused() async throws {
            let begin = ContinuousClock.now
            let site = try Site(["windows"])
            let agent = try StandInAgent()
            let problem = await #expect(throws: ReachProblem.self) { _ = try await site.link(agent).start() }
            #expect(problem?.code == .allocationRefused)
            FaultTable.add("Slurm: no node has the label", problem?.code.rawValue ?? "started", since: begin)
        }

        @Test(
            arguments: [(["docker", "macos"], 1, []), ([], 99, []), (["macos"], 1, ["node4"])]
                as [([String], Int, [String])])
        func whatNoNodeHasIsRefused(_ labels: [String], _ cpus: Int, _ avoided: [String]) async throws {
            let site = try Site(labels, cpus: cpus, avoiding: avoided)
            let agent = try StandInAgent()
            let problem = await #expect(throws: ReachProblem.self) { _ = try await site.link(agent).start() }
            #expect(problem?.isOfRequest == true, "\(String(describing: problem))")
            try await site.expectNothingLeft(agent)
        }

        @Test func aCancelledWaitLeavesNoAllocation() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let agent = try StandInAgent()
            try await site.occupy()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await site.link(agent).start() }
                group.addTask { try? await eventually("a waiting job") { try await !site.alive().isEmpty } }
                await group.next()
                group.cancelAll()
            }
            try await site.expectNothingLeft(agent)
            FaultTable.add("Slurm: the run is cancelled while it waits", "no job left", since: begin)
            try await site.vacate()
        }

        @Test func leftoversOfAnEarlierLifeAreCancelledAndOthersAreNot() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            func submit(_ run: Int64, _ owner: String) async throws -> String {
                let request = SlurmRequest(run: run, attempt: 1, owner: owner, limit: .seconds(60))
                _ = try await site.slurm.submit(request)
                return request.name
            }
            let left = try await submit(1, "mine")
            let wanted = try await submit(2, "mine")
            let foreign = try await submit(3, "other")
            #expect(try await site.slurm.cancelLeftovers(of: "mine", except: [wanted]) == [left])
            for name in [wanted, foreign] {
                #expect(try await site.slurm.jobs(named: name).count(where: \.state.isAlive) == 1)
                try await site.cluster.command(["scancel", "-n", name])
            }
            FaultTable.add("Slurm: the daemon died, and starts again", "its allocations are cancelled", since: begin)
        }

        // MARK: Faults

        @Test func aKilledSrunEndsTheStreamAndLeavesNothing() async throws {
            let begin = ContinuousClock.now
            let agent = try StandInAgent()
            let reason = try await Site().talk(to: agent) { talk in
                _ = try await talk.line()
                let own = Set(agent.marker.processes)
                let clients = processes(named: "srun").filter { own.contains($0) }
                #expect(!clients.isEmpty)
                for client in clients { _ = kill(client, SIGKILL) }
                try await talk.waitForEnd(within: .seconds(20))
            }
            #expect(reason?.contains("signal 9") == true)
            FaultTable.add("Slurm: kill -9 of srun", reason ?? "no reason", since: begin)
        }

        @Test func whenNobodyHoldsTheStreamTheAgentEnds() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let agent = try StandInAgent()
            _ = try await site.link(agent).start()
            try await agent.expectNothingLeft()
            // The agent is the job, so the allocation ends with it.
            #expect(try await site.slurm.cancelLeftovers(of: "test").isEmpty)
            FaultTable.add("Slurm: the daemon dies (its end of the stream closes)", "nothing left", since: begin)
        }

        @Test func anAllocationThatIsCancelledAtSlurmEndsTheStream() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let reason = try await site.talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                try await site.cluster.command(["scancel", "-n", site.request.name])
                try await talk.waitForEnd(within: .seconds(30))
            }
            #expect(reason?.contains("cancelled") == true)
            FaultTable.add("Slurm: somebody cancels the allocation", reason ?? "no reason", since: begin)
        }

        @Test func aSubmissionThatTheControllerForgotIsMadeAgain() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let agent = try StandInAgent()
            try await site.occupy()
            // slurmctld writes down what it knows at once, and then not again for five seconds.
            try await Task.sleep(for: .seconds(8))
            try await site.submitAnother()
            try await Task.sleep(for: .seconds(1))
            async let started = site.link(agent).start()
            try await eventually("a waiting job") { try await !site.alive().isEmpty }
            try await site.cluster.kill("slurmctld")
            try await site.cluster.run("start")
            let isForgotten = try await site.alive().isEmpty
            try await site.vacate()
            let talk = Talk(try await started)
            _ = try await talk.line()
            #expect(try await site.alive().count == 1)
            #expect(await talk.stream.end() == nil)
            try await site.expectNothingLeft(agent)
            FaultTable.add(
                "Slurm: slurmctld is killed within its 5 s, the job waits",
                isForgotten ? "forgotten, submitted again, runs once" : "not forgotten, runs once", since: begin)
            try await site.mend()
        }

        @Test func theControllerMayDieWhileTheAgentRuns() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let agent = try StandInAgent()
            var outcome = "goes on"
            let talk = Talk(try await site.link(agent).start())
            _ = try await talk.line()
            try await site.cluster.kill("slurmctld")
            #expect(try await talk.say("without") == "without")
            try await site.cluster.run("start")
            // The restarted controller may have no memory of the job, and end it.
            do { #expect(try await talk.say("after") == "after") } catch { outcome = "ends" }
            let reason = await talk.stream.end()
            try await site.expectNothingLeft(agent)
            FaultTable.add(
                "Slurm: slurmctld is killed within its 5 s, the agent runs", reason.map { "ends: it \($0)" } ?? outcome,
                since: begin)
            try await site.mend()
        }

        @Test func theControllerMayBeAwayAtTheStart() async throws {
            let begin = ContinuousClock.now
            let site = try Site()
            let agent = try StandInAgent()
            try await site.cluster.kill("slurmctld")
            async let started = site.link(agent).start()
            try await Task.sleep(for: .seconds(2))
            try await site.cluster.run("start")
            let talk = Talk(try await started)
            _ = try await talk.line()
            #expect(await talk.stream.end() == nil)
            try await site.expectNothingLeft(agent)
            FaultTable.add("Slurm: slurmctld is away for some seconds at the start", "waits, then starts", since: begin)
        }

        @Test func aKilledSlurmdDoesNotEndTheAgent() async throws {
            let begin = ContinuousClock.now
            let site = try Site(["arm64", "linux"])
            let reason = try await site.talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                try await site.cluster.kill("slurmd3")
                #expect(try await talk.say("without") == "without")
                try await site.cluster.run("start")
                #expect(try await talk.say("after") == "after")
            }
            #expect(reason == nil)
            FaultTable.add("Slurm: kill -9 of slurmd", "goes on", since: begin)
            try await site.mend()
        }

        @Test func aNodeThatCrashesEndsTheStream() async throws {
            let begin = ContinuousClock.now
            let site = try Site(["macos"])
            let agent = try StandInAgent()
            let talk = Talk(try await site.link(agent).start())
            _ = try await talk.line()
            try await site.cluster.kill("node4")
            try await talk.waitForEnd(within: .seconds(60))
            let reason = await talk.stream.end()
            #expect(reason != nil)
            FaultTable.add("Slurm: the node crashes", reason ?? "no reason", since: begin)
            try await site.mend()
            try await site.expectNothingLeft(agent)
        }

        @Test func aFullDiskOnTheNodeIsToldApart() async throws {
            let begin = ContinuousClock.now
            let site = try Site(["docker"])
            let cache = try #require(site.cluster.environment["XDG_CACHE_HOME"])
            let agent = try StandInAgent(padding: 64 << 10)
            try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
            try await site.cluster.run("inside", "node2", "mount", "-t", "tmpfs", "-o", "size=16k", "small", cache)
            let problem = await #expect(throws: ReachProblem.self) { _ = try await site.link(agent).start() }
            try await site.cluster.run("inside", "node2", "umount", cache)
            #expect(problem?.code == .diskFull)
            try await site.expectNothingLeft(agent)
            FaultTable.add("Slurm: the node's disk is full", problem?.code.rawValue ?? "started", since: begin)
        }

        @Test(.enabled(if: TestForm.isLong, "it takes two minutes")) func anAllocationEndsWithItsTime() async throws {
            let begin = ContinuousClock.now
            let reason = try await Site(limit: .seconds(60)).talk(to: StandInAgent()) { talk in
                _ = try await talk.line()
                try await talk.waitForEnd(within: .seconds(180))
            }
            #expect(reason?.contains("time limit") == true)
            FaultTable.add("Slurm: the time of the allocation is over", reason ?? "no reason", since: begin)
        }
    }
#endif
