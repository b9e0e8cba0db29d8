import Pipeline

/// Checks what steps need of a machine: no machine could ever run a step with impossible needs.
struct UsableMachines: PlanRule {
    static let name = "machine"

    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            guard let needs = step.machine else { continue }
            for problem in problems(of: needs) { report(step.name, problem) }
        }
    }

    private func problems(of needs: MachineNeeds) -> [String] {
        var problems = needs.traits.compactMap { trait in
            trait.problem.map { "the label \"\(trait.name.prefix(60))\" \($0)" }
        }
        for group in MachineTrait.exclusive {
            let named = group.filter { needs.traits.contains($0) }
            if named.count > 1 {
                let names = named.map(\.name).joined(separator: " and ")
                problems.append("it must run on \(names), and no machine is both; make a step for each")
            }
        }
        if let cpus = needs.cpus, !(1...4_096).contains(cpus) {
            problems.append("it needs \(cpus) CPUs; a step can need 1 to 4,096")
        }
        if let memory = needs.memory, !(1 << 20...1 << 50).contains(memory) {
            problems.append("it needs \(memory) bytes of memory; a step can need 1 MiB to 1 PiB")
        }
        return problems
    }
}

/// Checks the parts of divided steps: their number, and that they don't write each other's results.
struct UsableShards: PlanRule {
    static let name = "shards"

    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            guard let shard = step.shard, shard.number == 1 else { continue }
            if !(1...Shard.most).contains(shard.count) {
                report(step.name, "its tests are divided among \(shard.count) steps; write .shards(…) with 1 to 100")
                continue
            }
            switch step.action {
            case .shell, .command: break
            case .closure, .approval, .release, .publish:
                report(step.name, "it divides its tests; only a step with a command can do that; remove .shards(…)")
                continue
            }
            if let list = shard.list { checkList(list, of: step, report) }
            guard shard.count > 1 else { continue }
            if step.testResults.isEmpty {
                report(step.name, "it divides its tests but declares no .testResults(…) to find them")
            }
            if !step.publishes.isEmpty {
                report(step.name, "each of its parts would publish the same values; publish them in a step of its own")
            }
            let others = plan.steps.filter { $0.shard?.step == shard.step && $0.shard?.number != 1 }
            for path in sharedPaths(step) where others.contains(where: { sharedPaths($0).contains(path) }) {
                report(
                    step.name,
                    "all of its parts would write \"\(path)\"; put $PIPECTL_SHARD into the path, here and in the command"
                )
            }
        }
    }

    private func checkList(_ list: String, of step: PlannedStep, _ report: (String?, String) -> Void) {
        let parts = list.split(separator: "/", omittingEmptySubsequences: false)
        if list.utf8.contains(0) || parts.contains(where: { ["", ".", "..", ".git"].contains($0) }) {
            report(step.name, "its list of tests, \"\(list.prefix(200))\", is no path of a file in the workspace")
        }
        if step.testRetry != nil {
            report(
                step.name,
                "it runs the tests of a list, and .retryFailedTests(…) would add the failed ones to it; write .retries(…)"
            )
        }
    }

    private func sharedPaths(_ step: PlannedStep) -> [String] {
        step.testResults.compactMap { source in
            switch source {
            case .junit(let glob), .swiftTestingEvents(let glob), .file(let glob): glob
            case .swiftPMConsole: nil
            }
        }
    }
}
