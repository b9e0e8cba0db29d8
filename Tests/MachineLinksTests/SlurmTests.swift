import Testing

@testable import MachineLinks

@Suite struct SlurmTests {
    // MARK: What Slurm prints

    @Test(
        arguments: [
            ("7|pipectl-1-1|PENDING||me|Resources", .waiting(reason: "Resources")),
            ("7|pipectl-1-1|PENDING||me|launch failed requeued held", .stuck(reason: "launch failed requeued held")),
            ("7|pipectl-1-1|PENDING||me|JobHeldUser", .stuck(reason: "JobHeldUser")),
            ("7|pipectl-1-1|PENDING||me|BadConstraints", .stuck(reason: "BadConstraints")),
            ("7|pipectl-1-1|RUNNING|node3|me|None", .running(node: "node3")),
            ("7|pipectl-1-1|COMPLETING|node3|me|None", .ending),
            ("7|pipectl-1-1|NODE_FAIL|node3|me|None", .ended(.nodeLost)),
            ("7|pipectl-1-1|TIMEOUT|node3|me|a|b", .ended(.timedOut)),
            ("7|pipectl-1-1|SOMETHING|node3|me|None", .ended(.other("SOMETHING"))),
        ] as [(Substring, SlurmJobState)])
    func aLineOfSqueueIsRead(_ line: Substring, _ state: SlurmJobState) throws {
        let job = try #require(SlurmJob(line: line))
        #expect(job.id == 7)
        #expect(job.name == "pipectl-1-1")
        #expect(job.comment == "me")
        #expect(job.state == state)
    }

    @Test(arguments: ["", "slurm_load_jobs error", "x|n|RUNNING|a|b|c", "1|n|RUNNING"] as [Substring])
    func anotherLineIsNoJob(_ line: Substring) { #expect(SlurmJob(line: line) == nil) }

    @Test func aLineOfSinfoIsRead() throws {
        let node = try #require(SlurmNode(line: "node2|ci*|mix|linux,x86_64,docker|2|1000+|none"))
        #expect(node.features == ["linux", "x86_64", "docker"])
        #expect(node.cpus == 2)
        #expect(node.memory == 1_000)
        #expect(node.reason.isEmpty)
        #expect(node.isUsable && node.isOfDefault)
        let drained = try #require(SlurmNode(line: "node1|ci|drain|(null)|2|1000|Duplicate jobid | again"))
        #expect(!drained.isUsable && drained.isOut && !drained.isOfDefault)
        #expect(drained.features.isEmpty)
        #expect(drained.reason == "Duplicate jobid | again")
        #expect(SlurmNode(line: "node1|ci|idle*|x|2|1000|none")?.isUsable == false)
    }

    @Test func aClusterIsOutOfServiceOnlyIfAllNodesAre() throws {
        func nodes(_ states: String...) throws -> [SlurmNode] {
            try states.map { try #require(SlurmNode(line: "n|ci|\($0)|x|2|1000|broken disk")) }
        }
        #expect(SlurmNode.outage(of: []) == nil)
        #expect(try SlurmNode.outage(of: nodes("down", "idle")) == nil)
        #expect(try SlurmNode.outage(of: nodes("drain", "idle~")) == nil, "it is switched on when a job needs it")
        let outage = try #require(SlurmNode.outage(of: try nodes("down", "drng", "idle*", "drain")))
        #expect(outage.contains("broken disk"))
    }

    @Test func theArchitecturesOfNodesAreRead() {
        let lines: [Substring] = [
            "NodeName=n1 Arch=x86_64 CoresPerSocket=1 State=IDLE Partitions=ci Reason=Arch=none",
            "NodeName=n2 Arch=aarch64 CoresPerSocket=1", "NodeName=n3 CoresPerSocket=1 State=DOWN", "", "Arch=x",
        ]
        #expect(SlurmCommands.architectures(in: lines) == ["n1": "x86_64", "n2": "arm64"])
    }

    @Test func onlyWhatSlurmNeedsIsPassedOn() {
        let own = [
            "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "TZ": "UTC", "SLURM_CONF": "/c", "SLURM_JOB_ID": "7",
            "GITHUB_TOKEN": "secret", "XDG_CACHE_HOME": "/x", "LD_PRELOAD": "x",
        ]
        #expect(
            SlurmCommands.environment(of: own)
                == ["PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "TZ": "UTC", "SLURM_CONF": "/c"])
    }

    // MARK: Requests

    private func request(
        labels: [String] = [], owner: String = "box", limit: Duration = .seconds(61), avoiding nodes: [String] = []
    ) -> SlurmRequest {
        SlurmRequest(
            run: 12, attempt: 2, owner: owner, labels: labels, cpus: 4, memory: 8_000, limit: limit, avoiding: nodes)
    }

    @Test func nodesAreAvoidedUnderAnotherName() throws {
        let request = request(avoiding: ["n1", "n2"])
        #expect(try request.options().contains("--exclude=n1,n2"))
        #expect(request.name == "pipectl-box-12-2-2")
        #expect(throws: ReachProblem.self) { try self.request(avoiding: ["n[1-9]"]).options() }
    }

    @Test func aRequestIsNamedAndIsNeverQueuedAgain() throws {
        let options = try request(labels: ["linux", "gpu"]).options()
        #expect(options.contains("--no-requeue"))
        #expect(options.contains("--time=2"))
        #expect(options.contains("--cpus-per-task=4"))
        #expect(options.contains("--mem=8000M"))
        for pair in [["-J", "pipectl-box-12-2"], ["-C", "linux&gpu"]] {
            #expect(zip(options, options.dropFirst()).contains { [$0, $1] == pair })
        }
    }

    @Test(arguments: ["a b", "a&b", "", "-x", "a|b", "a\nb"]) func aLabelThatIsNoNameIsRefused(_ label: String) {
        let problem = #expect(throws: ReachProblem.self) { try request(labels: [label]).options() }
        #expect(problem?.code == .allocationRefused)
    }

    // MARK: Until there is an allocation

    private func job(_ id: Int, _ state: SlurmJobState) -> SlurmJob {
        let (word, node) =
            switch state {
            case .running(let node): ("RUNNING", node)
            case .waiting: ("PENDING", "")
            case .stuck: ("REQUEUE_HOLD", "")
            case .ending: ("COMPLETING", "")
            case .ended(.nodeLost): ("NODE_FAIL", "")
            case .ended: ("CANCELLED", "")
            }
        guard let job = SlurmJob(line: "\(id)|n|\(word)|\(node)|o|None") else { preconditionFailure("no job") }
        return job
    }

    @Test func anAllocationIsAskedForOnceAndUsed() {
        var progress = AllocationProgress(name: "n")
        #expect(progress.next(.jobs([]), at: .zero) == .submit)
        #expect(progress.submitted(.accepted(id: 3), at: .zero) == nil)
        #expect(progress.next(.jobs([]), at: .seconds(1)) == .wait)
        #expect(progress.next(.jobs([job(3, .waiting(reason: "None"))]), at: .seconds(100)) == .wait)
        let running = job(3, .running(node: "a"))
        #expect(progress.next(.jobs([running]), at: .seconds(101)) == .use(running, surplus: []))
    }

    @Test func anEarlierAllocationWithTheNameIsFound() {
        var progress = AllocationProgress(name: "n")
        let running = job(3, .running(node: "a"))
        #expect(progress.next(.jobs([running]), at: .zero) == .use(running, surplus: []))
    }

    @Test func aForgottenSubmissionIsMadeAgainAfterSixSecondsAndNotForever() {
        var progress = AllocationProgress(name: "n")
        _ = progress.submitted(.accepted(id: 3), at: .zero)
        #expect(progress.next(.jobs([]), at: .milliseconds(5_999)) == .wait)
        #expect(progress.next(.jobs([]), at: .seconds(6)) == .submit)
        _ = progress.submitted(.unanswered("?"), at: .seconds(6))
        #expect(progress.next(.jobs([]), at: .seconds(11)) == .wait)
        #expect(progress.next(.jobs([]), at: .seconds(12)) == .submit)
        _ = progress.submitted(.accepted(id: 4), at: .seconds(12))
        guard case .fail(let problem) = progress.next(.jobs([]), at: .seconds(18)) else {
            Issue.record("it goes on")
            return
        }
        #expect(problem.code == .allocationForgotten)
    }

    @Test func ofTwoWithTheSameNameOneIsNotNeeded() {
        var progress = AllocationProgress(name: "n")
        _ = progress.submitted(.accepted(id: 4), at: .zero)
        let running = job(4, .running(node: "a"))
        #expect(
            progress.next(.jobs([running, job(3, .waiting(reason: "x"))]), at: .zero) == .use(running, surplus: [3]))
    }

    @Test func silenceIsNoAnswer() {
        var progress = AllocationProgress(name: "n")
        let silence = AllocationProgress.Sight.unanswered(ReachProblem(.controllerUnreachable, "x"))
        _ = progress.submitted(.accepted(id: 3), at: .zero)
        #expect(progress.next(silence, at: .seconds(10)) == .wait)
        #expect(progress.next(silence, at: .seconds(129)) == .wait)
        #expect(progress.next(silence, at: .seconds(130)) == .fail(ReachProblem(.controllerUnreachable, "x")))
    }

    @Test(
        arguments: [
            (.stuck(reason: "held"), .allocationLost), (.ended(.cancelled), .allocationLost),
            (.ended(.nodeLost), .allocationLost),
        ] as [(SlurmJobState, ReachProblem.Code)])
    func whatWillNotRunIsAProblem(_ state: SlurmJobState, _ code: ReachProblem.Code) {
        var progress = AllocationProgress(name: "n")
        _ = progress.submitted(.accepted(id: 3), at: .zero)
        guard case .fail(let problem) = progress.next(.jobs([job(3, state)]), at: .seconds(1)) else {
            Issue.record("it goes on")
            return
        }
        #expect(problem.code == code)
    }

    @Test func anEarlierJobOfTheNameThatEndedDoesNotCount() {
        var progress = AllocationProgress(name: "n")
        #expect(progress.next(.jobs([job(2, .ended(.cancelled))]), at: .zero) == .submit)
        _ = progress.submitted(.accepted(id: 3), at: .zero)
        #expect(progress.next(.jobs([job(2, .ended(.cancelled))]), at: .seconds(1)) == .wait)
    }

    @Test func aRefusedRequestIsOver() {
        var progress = AllocationProgress(name: "n")
        let problem = progress.submitted(.refused("no such feature"), at: .zero)
        #expect(problem?.code == .allocationRefused && problem?.isOfRequest == true)
        let closed = AllocationProgress(name: "n").after(.closed("it is drained"))
        #expect(closed != nil && closed?.isOfRequest == false)
    }

    @Test(
        arguments: [
            ("PartitionTimeLimit", true), ("PartitionConfig", true), ("BadConstraints", true),
            ("QOSMaxCpuPerJobLimit", true),
            ("launch failed requeued held", false), ("JobHeldAdmin", false),
        ])
    func whatSlurmHoldsBackForWhatItAsksForIsRefused(_ reason: String, _ isOfRequest: Bool) throws {
        var progress = AllocationProgress(name: "n")
        _ = progress.submitted(.accepted(id: 3), at: .zero)
        let job = try #require(SlurmJob(line: "3|n|PENDING||o|\(reason)"))
        guard case .fail(let problem) = progress.next(.jobs([job]), at: .seconds(1)) else {
            Issue.record("it goes on")
            return
        }
        #expect(problem.isOfRequest == isOfRequest)
    }

    private static let failed = "sbatch: error: Batch job submission failed: "

    @Test(
        arguments: [
            "Requested node configuration is not available", "Invalid feature specification",
            "Requested time limit is invalid (missing or exceeds some limit)", "Invalid partition name specified",
            "Memory required by task is not available",
        ])
    func aRefusalOfTheRequestIsToldApart(_ words: String) {
        let text = "sbatch: error: CPU count per node can not be satisfied\n\(Self.failed)\(words)\n"
        #expect(SlurmCommands.refusal(text) == .refused(Self.failed + words))
    }

    @Test(
        arguments: [
            "Unable to contact slurm controller (connect failure)", "Socket timed out on send/recv operation",
            "Zero Bytes were transmitted or received", "Protocol authentication error",
            "Slurm temporarily unable to accept job, sleeping and retrying",
        ])
    func aControllerThatCanNotBeAskedRefusesNothing(_ words: String) {
        #expect(SlurmCommands.refusal(Self.failed + words) == .unanswered(Self.failed + words))
    }

    @Test func aPartitionThatTakesNoJobsRefusesNoRequest() {
        let words = Self.failed + "Required partition not available (inactive or drain)"
        #expect(SlurmCommands.refusal(words) == .closed(words))
    }

    @Test func aSubmissionThatNobodyAnswersIsNoForgottenOne() {
        var progress = AllocationProgress(name: "n")
        for second in 0..<3 { _ = progress.submitted(.unanswered("no munge"), at: .seconds(second * 6)) }
        guard case .fail(let problem) = progress.next(.jobs([]), at: .seconds(18)) else {
            Issue.record("it goes on")
            return
        }
        #expect(problem.code == .controllerUnreachable && problem.description.contains("no munge"))
    }
}

extension AllocationProgress {
    fileprivate func after(_ submission: SlurmCommands.Submission) -> ReachProblem? {
        var copy = self
        return copy.submitted(submission, at: .zero)
    }
}
