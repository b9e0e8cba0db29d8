import Pipeline

struct UsableGlobs: PlanRule {
    static let name = "glob"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            let results = step.testResults.compactMap { source -> String? in
                switch source {
                case .junit(let glob), .swiftTestingEvents(let glob), .file(let glob): glob
                case .swiftPMConsole: nil
                }
            }
            let findings = (step.findings ?? []).compactMap(\.sarifGlob)
            for glob in results + findings + step.artifacts + step.inputs + step.outputs {
                do throws(GlobProblem) { _ = try Glob(glob) } catch { report(step.name, error.description) }
            }
            for case .matching(let rule) in step.findings ?? [] {
                if let problem = rule.problem { report(step.name, problem) }
            }
        }
    }
}

struct UsableActions: PlanRule {
    static let name = "command"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            switch step.action {
            case .shell(let line):
                if line.allSatisfy(\.isWhitespace) { report(step.name, "its command is empty") }
                if line.utf8.contains(0) { report(step.name, "its command contains a NUL byte") }
                if line.utf8.count > 120_000 {
                    report(step.name, "its command is longer than 120,000 bytes; put it in a script")
                }
            case .command(let arguments):
                if arguments.first?.isEmpty ?? true { report(step.name, "its command is empty") }
                if arguments.contains(where: { $0.utf8.contains(0) }) {
                    report(step.name, "its command contains a NUL byte")
                }
            case .closure, .approval, .release, .publish: break
            }
        }
    }
}

struct UsableLimits: PlanRule {
    static let name = "limits"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            if !(step.timeout > 0 && step.timeout <= 7 * 86_400) {
                report(step.name, "its time-out is \(step.timeout) seconds; it takes more than 0 and at most 7 days")
            }
            if !(0...100).contains(step.retry.count) {
                report(step.name, "it is retried \(step.retry.count) times; allowed: 0 to 100")
            }
            if let retry = step.testRetry {
                let times = max(retry.times, retry.timesKnown ?? 0)
                if retry.times < 1 || times > 10 || !(1...200).contains(retry.maximum) {
                    report(
                        step.name,
                        "at most \(retry.maximum) failed tests are retried, \(times) times; allowed: 1 to 200 tests, 1 to 10 times"
                    )
                }
                if step.testResults.isEmpty {
                    report(step.name, "it retries failed tests but declares no .testResults(…) to find them")
                }
                switch step.action {
                case .shell, .command: break
                case .closure, .approval, .release, .publish:
                    report(step.name, "it retries failed tests; only a step with a command can do that")
                }
            }
            if step.testFilter != nil, step.action == .closure || !step.action.startsProcess {
                report(step.name, "it declares a test filter; only a step with a command can have one")
            }
            let backoff = step.retry.backoff
            if !(backoff.first >= 0 && backoff.limit >= 0 && backoff.limit <= 86_400 && backoff.factor >= 1) {
                report(step.name, "its pause between attempts is not between 0 and 1 day")
            }
            for problem in problems(of: step.limits) { report(step.name, problem) }
        }
        for problem in problems(of: plan.limits) { report(nil, problem) }
    }

    /// The largest count of any limit: 1 PiB. No machine has more, and sums of it do not overflow.
    private var most: Int { 1 << 50 }

    private func problems(of limits: Limits) -> [String] {
        func problem(_ name: String, _ value: Int?, least: Int, _ unit: String) -> String? {
            guard let value else { return nil }
            if value > most { return "its limit of \(name) is \(value) \(unit); it takes at most \(most)" }
            guard value < least else { return nil }
            return "its limit of \(name) is \(value) \(unit); a program needs at least \(least) to start"
        }
        func problem(_ name: String, _ seconds: Double?) -> String? {
            guard let seconds, !(seconds > 0 && seconds <= 7 * 86_400) else { return nil }
            return "its limit of \(name) is \(seconds) seconds; it takes more than 0 and at most 7 days"
        }
        return [
            problem("memory", limits.memory, least: 1 << 20, "bytes"),
            problem("processes", limits.processes, least: 2, "processes"),
            problem("file size", limits.fileSize, least: 0, "bytes"),
            problem("open files", limits.openFiles, least: 8, "files"),
            problem("output", limits.output, least: 1, "bytes"),
            problem("workspace", limits.workspace, least: 1 << 20, "bytes"),
            problem("CPU time", limits.cpuTime), problem("wall time", limits.wallTime),
        ].compactMap(\.self)
    }
}

struct UsableCaches: PlanRule {
    static let name = "cache"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            for cache in step.caches {
                if let problem = nameProblem(cache.name) { report(step.name, problem) }
                // Inside the workspace, a file that a change commits could take the cache's place.
                let parts = cache.path.split(separator: "/", omittingEmptySubsequences: false)
                let isBelowHome = parts.count > 1 && parts.first == "~"
                if !isBelowHome || parts.contains(where: { ["", ".", ".."].contains($0) })
                    || cache.path.utf8.contains(0)
                {
                    report(
                        step.name,
                        "the cache \"\(cache.name)\" can't be at \"\(cache.path)\"; write a path below home: ~/.cache/\(cache.name)"
                    )
                }
                if step.caches.count(where: { $0.name == cache.name || $0.path == cache.path }) > 1 {
                    report(step.name, "the cache \"\(cache.name)\" or its path is declared twice")
                }
            }
        }
    }
}

struct UsableFolders: PlanRule {
    static let name = "folder"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            guard let folder = step.workingDirectory else { continue }
            let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
            if folder.isEmpty || folder.hasPrefix("/") || parts.contains("..") || folder.utf8.contains(0) {
                report(
                    step.name,
                    "its working directory \"\(folder)\" is not below the workspace; write a relative path without ..")
            }
        }
    }
}

struct UsableEnvironment: PlanRule {
    static let name = "environment"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            for (name, value) in step.environment.sorted(by: { $0.key < $1.key }) {
                let usable = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "=") }
                if !usable || value.utf8.contains(0) { report(step.name, "the variable \"\(name)\" can't be set") }
                if name.hasPrefix("PIPECTL_") { report(step.name, "\(name) is reserved for pipectl; use another name") }
            }
        }
    }
}

struct UsableSecrets: PlanRule {
    static let name = "secret"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps {
            var names: Set<String> = []
            var variables = Set(step.environment.keys)
            for secret in step.secrets {
                if let problem = SecretUse.problem(with: secret.name) {
                    report(step.name, problem)
                } else if !names.insert(secret.name).inserted {
                    report(step.name, "it names the secret \(secret.name) twice; keep one")
                } else if step.environment[secret.variable] != nil {
                    report(
                        step.name,
                        "\(secret.variable) is a variable of the step and of the secret \(secret.name); keep one"
                    )
                } else if !variables.insert(secret.variable).inserted {
                    report(step.name, "two of its secrets make the variable \(secret.variable); rename one")
                }
            }
        }
    }
}

struct ConsistentResources: PlanRule {
    static let name = "resource"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        var capacities: [String: Int] = [:]
        for step in plan.steps {
            var units: [String: Int] = [:]
            for use in step.resources {
                let resource = use.resource
                if let reason = nameProblem(resource.name) { report(step.name, reason) }
                if let known = capacities[resource.name], known != resource.capacity {
                    report(
                        step.name,
                        "\"\(resource.name)\" has a capacity of \(known) and of \(resource.capacity); declare it once")
                }
                capacities[resource.name] = resource.capacity
                if use.units < 1 { report(step.name, "it uses \(use.units) of \"\(resource.name)\"; the minimum is 1") }
                let (sum, isTooLarge) = units[resource.name, default: 0].addingReportingOverflow(use.units)
                units[resource.name] = isTooLarge ? .max : sum
                if isTooLarge || sum > resource.capacity {
                    report(
                        step.name,
                        "it uses \(units[resource.name, default: 0]) of \"\(resource.name)\" but the capacity is \(resource.capacity): it could never start"
                    )
                }
            }
        }
    }
}

/// An approval step runs nothing, so it must have no settings of a command.
struct UsableApprovals: PlanRule {
    static let name = "approval"
    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        for step in plan.steps where step.action == .approval {
            var plain = PlannedStep(name: step.name, action: .approval, needs: step.needs)
            (plain.timeout, plain.condition) = (step.timeout, step.condition)
            if plain != step {
                report(
                    step.name,
                    "an approval step runs no command; the only modifier it can have is .timeout(…)")
            }
            if step.condition != .onSuccess {
                report(
                    step.name,
                    "approval is not possible after a run failed or was cancelled; remove .always() or .onFailure()")
            }
        }
    }
}
