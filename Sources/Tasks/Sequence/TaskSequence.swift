import Pipeline
package import Results

/// What follows for a task from everything that is recorded of it: a value without clock, disk or process.
///
/// The same records always give the same answer, so the work may end at any moment and be taken up again.
package struct TaskSequence: Sendable {
    /// How often a run of a workflow or a review is begun that says nothing because the build box fails.
    static let repetitions = 3

    private let task: TaskRecord
    private let history: TaskHistory
    /// Oldest first.
    private let runs: [TaskRun]
    private var rules: TasksDeclaration { task.rules }

    package init(_ task: TaskRecord, _ events: [TaskEvent], _ runs: [TaskRun]) {
        self.task = task
        self.runs = runs.sorted { $0.id < $1.id }
        history = TaskHistory(task, events, self.runs)
    }

    package func next() -> TaskNext {
        if history.phase == .ended || task.state.isEnded { return .done }
        if let news = runs.lazy.compactMap(news).first { return .record(news) }
        switch history.phase {
        case .planning: return planning()
        case .planWaits:
            return .wait(.planWaits, reason: "plan \(history.plan?.version ?? 1) waits for approval")
        case .working: return working()
        case .opening(let attempt):
            guard let made = history.tries[attempt]?.made else {
                return .record(.gaveUp(reason: "try \(attempt), which was chosen, is not known any more"))
            }
            return .open(made)
        case .ready: return .wait(.ready, reason: "its change passed; a person is to land it")
        case .following: return .follow
        case .ended: return .done
        }
    }

    // MARK: What runs bring

    /// What an ended run means, if the history does not have it.
    private func news(_ run: TaskRun) -> TaskEvent.What? {
        guard let verdict = run.verdict, !history.runs.contains(run.id) else { return nil }
        let (role, attempt) = (run.role, run.role.attempt)
        switch role.part {
        case .planning:
            guard var plan = run.outcome?.plan else {
                return .planFailed(run: run.id, reason: run.outcome?.reason ?? run.reason)
            }
            plan.version = (history.plan?.version ?? 0) + 1
            return .planned(plan: plan, run: run.id)
        case .working:
            guard var made = run.outcome?.made else {
                return .tryFailed(
                    agent: role.agent ?? "", attempt: attempt, run: run.id, reason: run.outcome?.reason ?? run.reason)
            }
            (made.attempt, made.run, made.agent) = (attempt, run.id, role.agent ?? made.agent)
            made.unread = run.outcome?.unread
            return .made(attempt: made)
        case .reproducing: return reproduction(run, verdict)
        case .comparing: return nil
        case .checking, .reviewing:
            if run.saysNothing, countAlike(run) < Self.repetitions { return nil }
            let missing = missingTests(run)
            if !missing.isEmpty, !run.saysNothing, verdict == .passed || verdict == .flaky {
                return .checked(
                    run: run.id, attempt: attempt, verdict: .failed,
                    reason: "\(list(missing)) failed on the target and did not pass with the change")
            }
            return .checked(run: run.id, attempt: attempt, verdict: verdict, reason: run.reason)
        }
    }

    private func reproduction(_ run: TaskRun, _ verdict: Verdict) -> TaskEvent.What? {
        let attempt = run.role.attempt
        if history.tries[attempt]?.reproduced != nil || history.tries[attempt]?.notReproduced != nil { return nil }
        let shown = shown(run)
        if verdict == .failed, !shown.isEmpty {
            if isNew(shown, in: run) { return .reproduced(run: run.id, attempt: attempt, tests: shown) }
            let earlier = runs(like: run.role).filter { $0.id < run.id }.flatMap(\.failed)
            let confirmed = shown.filter { earlier.contains($0) }
            if !confirmed.isEmpty { return .reproduced(run: run.id, attempt: attempt, tests: confirmed) }
        }
        // It may fail now and then; the next run says more.
        if wantsRepetition(run) { return nil }
        // What fails may have failed before.
        if wantsComparison(run), !isCompared(run) { return nil }
        if run.saysNothing, countAlike(run) < Self.repetitions { return nil }
        // Another workflow may have the tests.
        guard run.role.workflow == rules.workflows.last else { return nil }
        let reason =
            if verdict == .passed || verdict == .flaky {
                "its tests pass on the target, too, so they don't show what was wrong"
            } else if !shown.isEmpty {
                "\(list(shown)) failed on the target once only, so it does not show what was wrong"
            } else if run.failed.isEmpty {
                "the run on the target ended without a failed test: \(run.reason)"
            } else if run.redBefore == nil {
                "it is not known which tests fail on the target without it: no run of \(run.role.workflow ?? "") there ended"
            } else {
                "\(list(run.failed)) fails on the target without its tests, too, so nothing shows what was wrong"
            }
        return .notReproduced(run: run.id, attempt: attempt, reason: reason)
    }

    /// The tests that fail on the target with the tests of a try and not without them. Tests that the task is about count,
    /// however long they have failed.
    private func shown(_ run: TaskRun) -> [String] {
        switch task.source {
        case .scheduledRun: return run.failed
        case .redTest(let test, _) where run.failed.contains(test):
            return run.failed.filter { $0 == test || run.redBefore?.contains($0) == false }
        default: return run.redBefore.map { red in run.failed.filter { !red.contains($0) } } ?? []
        }
    }

    /// Whether one of the tests does not pass on the target as it is: there is none of the name, or it is red.
    private func isNew(_ tests: [String], in run: TaskRun) -> Bool { tests.contains { !run.greenBefore.contains($0) } }

    /// Whether a test that the target has, and that passes there, failed with the tests of the try: they may have changed
    /// it, or it fails now and then. It is run once more.
    private func wantsRepetition(_ run: TaskRun) -> Bool {
        let shown = shown(run)
        return run.role.part == .reproducing && run.verdict == .failed && !shown.isEmpty && !isNew(shown, in: run)
            && runs(like: run.role).first { !$0.saysNothing }?.id == run.id
    }

    /// Whether it must be known which tests fail on the target as it is.
    private func wantsComparison(_ run: TaskRun) -> Bool {
        run.role.part == .reproducing && run.verdict == .failed && !run.failed.isEmpty && run.redBefore == nil
            && shown(run).isEmpty
    }

    /// Whether no further run of the target for this reproduction is of use.
    private func isCompared(_ run: TaskRun) -> Bool {
        let alike = runs(like: comparison(run))
        return !alike.contains(where: \.isLive) && again(comparison(run)) == nil
    }

    private func comparison(_ run: TaskRun) -> TaskRole {
        TaskRole(task: task.id, part: .comparing, attempt: run.role.attempt, workflow: run.role.workflow)
    }

    /// The tests that show what was wrong and did not pass in this check.
    private func missingTests(_ run: TaskRun) -> [String] {
        guard run.role.part == .checking, let tests = history.tries[run.role.attempt]?.reproduced else { return [] }
        let shown = runs.last {
            $0.role.part == .reproducing && $0.role.attempt == run.role.attempt && !$0.failed.isEmpty
        }
        guard shown?.role.workflow == run.role.workflow else { return [] }
        return tests.filter { !run.passed.contains($0) }
    }

    private func list(_ names: [String]) -> String {
        names.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
            + (names.count > 3 ? " and \(names.count - 3) more tests" : "")
    }

    /// How many runs were begun for the same purpose.
    private func countAlike(_ run: TaskRun) -> Int { runs(like: run.role).count }

    private func runs(like role: TaskRole) -> [TaskRun] {
        runs.filter {
            $0.role.part == role.part && $0.role.attempt == role.attempt && $0.role.workflow == role.workflow
        }
    }

    /// The role, if no run of it is live or has said something; with the number of its repetition.
    private func again(_ role: TaskRole) -> TaskRole? {
        let alike = runs(like: role)
        guard alike.allSatisfy({ $0.saysNothing }), alike.count < Self.repetitions else { return nil }
        var role = role
        if !alike.isEmpty { role.repetition = alike.count + 1 }
        return role
    }

    // MARK: Planning

    private func planning() -> TaskNext {
        let version = (history.plan?.version ?? 0) + 1
        if runs.contains(where: { $0.role.part == .planning && $0.isLive }) {
            return .wait(.planning, reason: "plan \(version) is being made")
        }
        guard history.planFailures < rules.attempts else {
            return .record(
                .gaveUp(
                    reason: "\(history.planFailures) answers were no plan; the last one: \(history.planProblem)"))
        }
        guard let agent = rules.agents.first else { return .record(.gaveUp(reason: "no agent is declared")) }
        if let excess = task.budgetExcess { return .record(.gaveUp(reason: excess)) }
        var role = TaskRole(task: task.id, part: .planning, attempt: version, agent: agent.name)
        let before = runs.count { $0.role.part == .planning && $0.role.attempt == version }
        if before > 0 { role.repetition = before + 1 }
        return .begin([role], .planning, reason: "plan \(version) is being made by \(agent.name)")
    }

    // MARK: Working

    /// How far one agent is with the present work.
    private enum Lane {
        /// Runs are live.
        case busy(TaskState, String)
        case begins([TaskRole])
        /// The try passed everything.
        case passed(TaskHistory.Try)
        /// Its last try did not pass, for this reason; it may try again on top of this try.
        case wantsTry(base: Int?, reason: String?)
    }

    private func working() -> TaskNext {
        let lanes = rules.agents.map { (agent: $0.name, lane: lane(of: $0.name)) }
        let passed = lanes.compactMap { if case .passed(let one) = $0.lane { one } else { nil } }
        let excess = task.budgetExcess
        var roles: [TaskRole] = []
        var busy: [(TaskState, String)] = []
        var failures: [String] = []
        var attempt = lastAttempt
        for (agent, lane) in lanes {
            switch lane {
            case .busy(let state, let reason): busy.append((state, reason))
            case .begins(let wanted): roles += wanted
            case .passed: break
            case .wantsTry(let base, let reason):
                if let reason { failures.append(reason) }
                // Where one has passed, the others end with what they have.
                guard passed.isEmpty, excess == nil, tries(of: agent) < mostTries else { continue }
                attempt += 1
                roles.append(
                    TaskRole(task: task.id, part: .working, attempt: attempt, agent: agent, base: base))
            }
        }
        if !roles.isEmpty {
            let isWork = roles.contains { $0.part == .working }
            return .begin(
                roles, isWork ? .working : .checking, reason: roles.map(\.inWords).joined(separator: ", "))
        }
        if let first = busy.first(where: { $0.0 == .working }) ?? busy.first {
            return .wait(first.0, reason: busy.map(\.1).joined(separator: ", "))
        }
        if let best = TaskRanking.best(of: passed.map(candidate)) {
            return .record(.chosen(attempt: best.made.attempt, reason: best.reason))
        }
        let last = failures.last.map { "; the last one: \($0)" } ?? ""
        return .record(.gaveUp(reason: excess ?? "no try passed\(last)"))
    }

    /// Each remark gives the agents one try more.
    private var mostTries: Int { rules.attempts + history.remarks.count }

    private var lastAttempt: Int {
        let begun = runs.lazy.filter { $0.role.part == .working }.map(\.role.attempt).max() ?? 0
        return max(begun, history.tries.keys.max() ?? 0, history.failures.keys.max() ?? 0)
    }

    /// The tries that an agent began for the present work. Those that the build box or a person ended count, too, so
    /// that there is an end.
    private func tries(of agent: String) -> Int {
        runs.count { $0.role.part == .working && $0.role.agent == agent && $0.role.attempt > history.floor }
    }

    private func lane(of agent: String) -> Lane {
        if let live = runs.last(where: { $0.role.part == .working && $0.role.agent == agent && $0.isLive }) {
            return .busy(.working, live.role.inWords)
        }
        let made = history.tries.values.filter { $0.made.agent == agent && $0.made.attempt > history.floor }
        let best = made.max { $0.made.attempt < $1.made.attempt }
        let failed = history.failures.filter { $0.value.agent == agent && $0.key > history.floor }
            .max { $0.key < $1.key }
        if let failed, failed.key > best?.made.attempt ?? 0 {
            return .wantsTry(base: best?.made.attempt ?? history.base, reason: failed.value.reason)
        }
        guard let best else { return .wantsTry(base: history.base, reason: nil) }
        if best.made.unread ?? 0 > 0 || history.remarks.contains(where: { $0 > best.event }) {
            return .wantsTry(base: best.made.attempt, reason: "it does not take up the last remark")
        }
        return lane(of: best)
    }

    /// The way of a try with a commit: its reproduction, its checks, its review.
    private func lane(of one: TaskHistory.Try) -> Lane {
        let attempt = one.made.attempt
        func retry(_ reason: String) -> Lane { .wantsTry(base: attempt, reason: reason) }
        if task.needsReproduction, one.reproduced == nil {
            if let reason = one.notReproduced { return retry(reason) }
            return reproducing(one)
        }
        let checking = rules.workflows.map {
            TaskRole(task: task.id, part: .checking, attempt: attempt, workflow: $0)
        }
        switch progress(of: checking, one) {
        case .some(let lane): return lane
        case .none: break
        }
        guard let reviewer = rules.reviewer else { return .passed(one) }
        let review = TaskRole(task: task.id, part: .reviewing, attempt: attempt, agent: reviewer.name)
        if let excess = task.budgetExcess, runs(like: review).isEmpty { return retry(excess) }
        return progress(of: [review], one) ?? .passed(one)
    }

    private func reproducing(_ one: TaskHistory.Try) -> Lane {
        for workflow in rules.workflows {
            let role = TaskRole(
                task: task.id, part: .reproducing, attempt: one.made.attempt, workflow: workflow)
            let alike = runs(like: role)
            if alike.contains(where: \.isLive) { return .busy(.checking, role.inWords) }
            if let run = alike.last(where: wantsComparison) {
                let comparing = comparison(run)
                if runs(like: comparing).contains(where: \.isLive) { return .busy(.checking, comparing.inWords) }
                if let comparing = again(comparing) { return .begins([comparing]) }
            }
            if alike.contains(where: wantsRepetition), alike.count(where: { !$0.saysNothing }) == 1,
                alike.count < Self.repetitions
            {
                var role = role
                role.repetition = alike.count + 1
                return .begins([role])
            }
            if let role = again(role) { return .begins([role]) }
        }
        return .wantsTry(base: one.made.attempt, reason: "it could not be reproduced")
    }

    /// How far these runs are; nil: all have passed.
    private func progress(of roles: [TaskRole], _ one: TaskHistory.Try) -> Lane? {
        var (begin, live, problems): ([TaskRole], [String], [String]) = ([], [], [])
        for role in roles {
            let alike = runs(like: role)
            let said = alike.compactMap { one.checks[$0.id] }.last
            if alike.contains(where: \.isLive) {
                live.append(role.inWords)
            } else if let said {
                if said.verdict != .passed, said.verdict != .flaky {
                    problems.append("\(role.inWords) is \(said.verdict.title): \(said.reason)")
                }
            } else if let role = again(role) {
                begin.append(role)
            } else {
                problems.append("\(role.inWords) has no result")
            }
        }
        if !live.isEmpty, begin.isEmpty { return .busy(.checking, live.joined(separator: ", ")) }
        if !problems.isEmpty { return .wantsTry(base: one.made.attempt, reason: problems.joined(separator: "; ")) }
        return begin.isEmpty ? nil : .begins(begin)
    }

    private func candidate(_ one: TaskHistory.Try) -> TaskRanking.Candidate {
        let own = runs.filter { $0.role.attempt == one.made.attempt }
        let checks = own.filter { $0.role.part == .checking }
        return TaskRanking.Candidate(
            made: one.made, verdicts: checks.compactMap { one.checks[$0.id]?.verdict },
            breaches: checks.map(\.breaches).reduce(0, +),
            findings: own.last { $0.role.part == .reviewing }?.findings ?? [],
            isReproduced: !task.needsReproduction || one.reproduced != nil)
    }
}
