import Foundation
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What one step came to, with what it left.
struct StepOutcome: Sendable {
    var record: StepRecord
    var tests: [TestResult] = []
    var findings: [Finding] = []
    var artifacts: [ArtifactRecord] = []
    var resultFiles: [String] = []
    /// Whether it failed and then passed on the same tree.
    var isFlaky = false
}

extension Runner {
    /// Runs a step's attempts, waiting for a slot before each.
    func runStep(
        _ index: Int, of plan: Plan, on hosts: StepHosts, within quota: RunQuota, stop: StopSignal
    ) async -> StepOutcome {
        let outcome = await runAttempts(index, of: plan, on: hosts, within: quota, stop: stop)
        // What a step chose (a file's name, a test's) may be in any sentence about it.
        return setting.secrets.masker.map { outcome.masked(by: $0) } ?? outcome
    }

    private func runAttempts(
        _ index: Int, of plan: Plan, on hosts: StepHosts, within quota: RunQuota, stop: StopSignal
    ) async -> StepOutcome {
        let step = plan.steps[index]
        var outcome = StepOutcome(
            record: StepRecord(
                name: step.name, command: step.commandLine, needs: step.needs, allowsFailure: step.allowsFailure))
        if step.action == .approval { return await awaitApproval(of: step, stop) }
        if let reason = pool.impossibility(of: step.resources) {
            return finished(outcome, .infrastructure, "\(reason); it could never start")
        }
        if let reason = setting.secrets.obstacle(to: step) { return finished(outcome, .infrastructure, reason) }
        for number in 1...(max(step.retry.count, 0) + 1) {
            if number > 1 {
                let pause = step.retry.backoff.pause(beforeAttempt: number)
                if pause > 0, let request = await firstStop(stop, within: .seconds(pause)) {
                    return finished(outcome, .cancelled, request.reason)
                }
            }
            guard await acquire(step, stop) else {
                return finished(outcome, .cancelled, stop.request?.reason ?? "cancelled")
            }
            let attempt = await runAttempt(number, of: step, at: index, on: hosts, within: quota, stop: stop)
            // Before the slot is given back and anything that needs the step may start.
            await setting.journal?.end(step.name, attempt.record)
            await pool.release(step.resources)
            outcome.record.attempts.append(attempt.record)
            outcome.findings += attempt.findings
            outcome.tests += attempt.tests
            outcome.resultFiles += attempt.resultFiles
            outcome.record.testCounts = attempt.tests.isEmpty ? nil : TestCounts(lastTriesOf: attempt.tests)
            outcome.record.status = attempt.record.status
            outcome.record.reason = attempt.record.reason
            let record = setting.secrets.masker.map { attempt.record.masked(by: $0) } ?? attempt.record
            await emit(.attemptEnded(step: step.name, attempt: record))
            let again =
                number <= step.retry.count && stop.request == nil && attempt.record.deserves(step.retry.condition)
            if !again { break }
        }
        outcome.isFlaky =
            outcome.record.status == .passed
            && outcome.record.attempts.contains { $0.status == .failed || $0.status == .timedOut }
        guard !step.artifacts.isEmpty, outcome.record.status != .cancelled else { return outcome }
        let before = outcome
        do {
            return try await onOwnThread {
                var outcome = before
                collectArtifacts(of: step, into: &outcome)
                return outcome
            }
        } catch {
            return finished(outcome, .infrastructure, "its artifacts could not be collected: \(error)")
        }
    }

    private func finished(_ outcome: StepOutcome, _ status: StepStatus, _ reason: String) -> StepOutcome {
        var outcome = outcome
        outcome.record.status = status
        outcome.record.reason = reason
        return outcome
    }

    private func firstStop(_ stop: StopSignal, within pause: Duration) async -> StopRequest? {
        await withTaskGroup(of: StopRequest?.self) { group in
            group.addTask { await stop.wait() }
            group.addTask {
                try? await Task.sleep(for: pause)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Waits for the slot and resources; false when the step was stopped first.
    private func acquire(_ step: PlannedStep, _ stop: StopSignal) async -> Bool {
        if stop.request != nil || Task.isCancelled { return false }
        if pool.tryAcquire(step.resources) { return true }
        if let reason = await pool.obstacle(to: step.resources) {
            await emit(.stepWaiting(step: step.name, reason: reason))
        }
        let ticket = pool.takeTicket()
        let handler = stop.onStop { _ in pool.giveUp(ticket) }
        defer { stop.removeHandler(handler) }
        let isGranted = await withTaskCancellationHandler {
            await pool.wait(for: step.resources, ticket: ticket)
        } onCancel: {
            pool.giveUp(ticket)
        }
        // Granted in the moment of the stop: what was taken is given back.
        if isGranted && stop.request != nil {
            await pool.release(step.resources)
            return false
        }
        return isGranted
    }

    private struct Attempt {
        var record: AttemptRecord
        var tests: [TestResult] = []
        var findings: [Finding] = []
        var resultFiles: [String] = []
    }

    private func runAttempt(
        _ number: Int, of step: PlannedStep, at index: Int, on hosts: StepHosts, within quota: RunQuota,
        stop: StopSignal
    ) async -> Attempt {
        let start = Date()
        await emit(.stepStarted(step: step.name, attempt: number, at: start))
        let label = "\(String(index + 1).leftPadded(to: 3))-\(number)"
        let log = AttemptLog(
            folder: setting.logs, name: label + ".log", limits: setting.logLimits, masker: setting.secrets.masker)
        let published = setting.published.appending(label)
        var attempt = Attempt(record: AttemptRecord(number: number, startedAt: start))
        do {
            var command = try prepare(step, attempt: number, published: published)
            let allowance = try quota.allowance(of: step, label: label)
            defer { allowance.close() }
            command.limits = allowance.processLimits
            command.group = allowance.group
            let host = hosts.host(for: setting.policy(of: step, hasSecrets: setting.secrets.areGiven(to: step)))
            defer { setting.removeSecretsFolder(of: command) }
            let before = step.testResults.isEmpty ? [:] : try await onOwnThread { resultFiles(of: step) }
            if let journal = setting.journal {
                let intent = StepIntent(
                    step: step.name, attempt: number, command: step.commandLine, isIdempotent: step.isIdempotent,
                    startedAt: start)
                do { try await journal.begin(intent) } catch { throw UnrecordedIntent(cause: error) }
            }
            // Progress goes out beside the output, so a slow listener never slows the bytes.
            async let progress: Void = {
                for await (line, bytes) in log.lastLines {
                    await emit(.stepOutput(step: step.name, attempt: number, lastLine: line, bytes: bytes))
                }
            }()
            let end: Result<ProcessEnd, any Error>
            do {
                end = .success(
                    try await StepProcess(host: host, grace: setting.grace).run(
                        command, timeout: .seconds(step.timeout), stop: stop, watch: allowance.breach
                    ) { bytes in
                        allowance.count(output: bytes.count)
                        log.append(bytes)
                    })
            } catch {
                end = .failure(error)
            }
            log.finishLines()
            await progress
            switch end {
            case .success(let end):
                attempt.record.exitCode = end.exitCode
                attempt.record.signal = end.signal
                (attempt.record.status, attempt.record.reason) = judge(end)
                if end.stopped == nil, let cause = allowance.cause(of: end) {
                    (attempt.record.status, attempt.record.reason) = (.failed, cause)
                } else if attempt.record.status == .passed, let survived = allowance.survivedBreach {
                    attempt.findings.append(
                        Finding(
                            rule: "limit", severity: .warning, message: survived, file: nil, line: nil, column: nil,
                            suggestion: "see what of the step was ended, or raise the limit"))
                }
            case .failure(let problem):
                judge(problem, step, &attempt.record)
                log.append("pipectl: \(attempt.record.reason ?? "")\n")
            }
            if attempt.record.status == .passed, !step.publishes.isEmpty,
                let missing = try await onOwnThread({ adoptValues(of: step, from: published) })
            {
                (attempt.record.status, attempt.record.reason) = (.failed, missing)
            }
            finish(log, start, &attempt.record)
            if !step.testResults.isEmpty {
                let ended = attempt
                attempt = try await onOwnThread {
                    var attempt = ended
                    readResults(of: step, at: index, since: before, into: &attempt)
                    return attempt
                }
            }
        } catch let unrecorded as UnrecordedIntent {
            finish(log, start, &attempt.record)
            attempt.record.status = .infrastructure
            attempt.record.reason = "it was not started: \(unrecorded)"
        } catch {
            finish(log, start, &attempt.record)
            attempt.record.status = .infrastructure
            attempt.record.reason = "it could not be run: \(error)"
        }
        return attempt
    }

    private func finish(_ log: AttemptLog, _ start: Date, _ record: inout AttemptRecord) {
        guard record.endedAt == nil else { return }
        let ended = log.finish()
        record.log = ended.log
        record.endedAt = start.addingTimeInterval(log.elapsed.inSeconds)
        if let problem = ended.problem, record.status != .cancelled {
            record.status = .infrastructure
            record.reason =
                problem == .noSpace || problem == .diskQuotaExceeded
                ? "disk full: its log could not be written to the end. Free space on the state folder's disk, then rerun."
                : "its log could not be written: \(problem). Check the state folder's disk, then rerun."
        }
    }

    private func judge(_ end: ProcessEnd) -> (StepStatus, String?) {
        if let stopped = end.stopped {
            let killed = end.wasKilled ? "; it ignored SIGTERM for \(setting.grace.inWords) and was killed" : ""
            let status: StepStatus =
                switch stopped.kind {
                case .timedOut: .timedOut
                case .limitReached: .failed
                default: .cancelled
                }
            return (status, stopped.reason + killed)
        }
        if let signal = end.signal {
            return (.failed, "ended by signal \(signal) (\(String(cString: strsignal(signal))))")
        }
        switch end.exitCode {
        case 0: return (.passed, nil)
        case let code?: return (.failed, "exit code \(code)")
        case nil: return (.infrastructure, "how it ended is not known")
        }
    }

    private func judge(_ problem: any Error, _ step: PlannedStep, _ record: inout AttemptRecord) {
        record.status = .infrastructure
        switch problem {
        case StepProcessProblem.command(let code):
            let program =
                switch step.action {
                case .shell: "/bin/sh"
                case .command(let words): words.first ?? ""
                case .closure, .approval: "the compiled workflow"
                }
            record.reason = "\"\(program)\" can't be started: \(code)"
            // The box's own programs are the box's fault, the step's own are the step's.
            guard case .command = step.action else { return }
            record.status = .failed
            // As a shell has it.
            record.exitCode = code == .noSuchFileOrDirectory ? 127 : 126
            if code == .noSuchFileOrDirectory { record.reason? += "; is it installed, and in the step's PATH?" }
        case StepProcessProblem.folder(let code):
            if let folder = step.workingDirectory {
                record.status = .failed
                record.reason =
                    "its working directory \"\(folder)\" can't be entered: \(code); it must be there when the step starts"
            } else {
                record.reason = "the workspace can't be entered: \(code)"
            }
        case StepProcessProblem.system(let code):
            record.reason = "it could not be started: \(code); the box is overloaded: run fewer steps at a time"
        case let problem as StepHostProblem where StepProcess.passes(problem.errno):
            record.reason =
                "it could not be started: \(problem.errno); the box is overloaded: run fewer steps at a time"
        case let code as Errno where StepProcess.passes(code):
            record.reason = "it could not be started: \(code); the box is overloaded: run fewer steps at a time"
        case StepProcessProblem.lost:
            record.reason =
                "stepinit, which watched over it, was killed; everything that the step had started was ended"
        case StepProcessProblem.secret(let code):
            record.reason = "its secrets could not be handed over: \(code)"
        case StepProcessProblem.group(let code):
            record.reason = "it could not enter its control group: \(code); see `pipectl doctor`"
        case StepProcessProblem.nulByte:
            record.status = .failed
            record.reason = "its command or environment contains a NUL byte, which no program can be given"
        default:
            record.reason = "it could not be started: \(problem)"
        }
    }

    /// Takes over what a step that passed has published, or says what it has not.
    ///
    /// Only declared values are taken, from a folder that no other attempt could write to.
    private func adoptValues(of step: PlannedStep, from published: FilePath) -> String? {
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, 16 << 20)
        let files = WorkspaceFiles(root: published, limits: limits)
        for name in step.publishes {
            let target = setting.values.appending("\(name).json")
            let temporary = setting.values.appending(".\(UInt64.random(in: .min ... .max))")
            defer { _ = temporary.withPlatformString { unlink($0) } }
            do {
                _ = try files.copy("\(name).json", to: temporary, masker: setting.secrets.masker)
            } catch let problem as WorkspaceFileProblem where problem.isMissing {
                let place = "$\(StepVariable.valuesOut)/\(name).json"
                return "it declares .publishes(\"\(name)\") but published nothing: write \(place)"
            } catch let problem as WorkspaceFileProblem where problem.secret != nil {
                // The folder is below the state; a value that is refused is not left there until the run ends.
                _ = published.appending("\(name).json").withPlatformString { unlink($0) }
                return
                    "what it published as \"\(name)\" contains secret \(problem.secret ?? ""); publish something else, "
                    + "and name the secret in the step that needs it"
            } catch {
                return "what it published as \"\(name)\" can't be read: \(error)"
            }
            guard let data = FileManager.default.contents(atPath: temporary.string),
                (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            else { return "what it published as \"\(name)\" is not JSON; a text needs quotes" }
            do {
                try FileManager.default.moveReplacing(temporary.string, to: target.string)
            } catch {
                return "what it published as \"\(name)\" can't be kept: \(error)"
            }
        }
        return nil
    }

    func prepare(_ step: PlannedStep, attempt: Int, published: FilePath) throws -> StepCommand {
        var folder = setting.workspace
        if let relative = step.workingDirectory { folder = folder.appending(relative) }
        var environment = setting.environment
        environment.merge(step.environment) { _, new in new }
        environment["PIPECTL_STEP"] = step.name
        environment[StepVariable.workspace] = setting.seen(setting.workspace).string
        environment[StepVariable.attempt] = String(attempt)
        environment[StepVariable.valuesIn] = setting.seen(setting.values).string
        if let enclosure = setting.enclosure {
            environment["HOME"] = setting.seen(setting.home).string
            environment["TMPDIR"] = setting.seen(setting.temporary).string
            environment["USER"] = "pipectl"
            environment["LOGNAME"] = "pipectl"
            for (name, cache) in enclosure.caches where step.caches.contains(where: { $0.name == name }) {
                environment[StepVariable.cache(name)] = Sandbox.hasMounts ? cache.target : cache.source
            }
        }
        // A step that publishes nothing has nowhere to publish to, which also saves it a folder.
        if !step.publishes.isEmpty || step.action == .closure {
            // It must be new: with our own rights, a step could have put a link in its place.
            guard mkdir(published.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
            if let user = setting.enclosure?.user { try Ownership.give(published.string, to: user) }
            environment[StepVariable.valuesOut] = setting.seen(published).string
        }
        let arguments =
            switch step.action {
            case .shell(let line): ["/bin/sh", "-ec", line]
            case .command(let words): words
            case .closure: setting.closureCommand(step.name)
            // Never reached: such a step waits in ``awaitApproval(of:_:)`` and starts nothing.
            case .approval: ["true"]
            }
        var command = StepCommand(
            arguments: arguments, workingDirectory: setting.seen(folder), environment: environment,
            hasTerminal: step.hasTerminal)
        if setting.secrets.areGiven(to: step) { command.secretsFolder = try setting.makeSecretsFolder() }
        setting.secrets.handOver(to: &command, of: step)
        return command
    }

    /// The result files that are there already, which an attempt has to change or replace to count as its own.
    private func resultFiles(of step: PlannedStep) -> [String: WorkspaceFiles.Stamp] {
        let globs = step.testResults.compactMap { source -> Glob? in
            switch source {
            case .junit(let pattern), .swiftTestingEvents(let pattern): try? Glob(pattern)
            case .swiftPMConsole: nil
            }
        }
        guard !globs.isEmpty else { return [:] }
        let found = WorkspaceFiles(root: setting.workspace, limits: setting.fileLimits).matching(globs).matches
        return Dictionary(found.map { ($0.path, $0.stamp) }, uniquingKeysWith: { first, _ in first })
    }

    private func readResults(
        of step: PlannedStep, at index: Int, since before: [String: WorkspaceFiles.Stamp], into attempt: inout Attempt
    ) {
        let reader = TestResultReader()
        let files = WorkspaceFiles(root: setting.workspace, limits: setting.fileLimits)
        var sets: [TestResults] = []
        func find(_ rule: String, _ message: String) {
            attempt.findings.append(
                Finding(
                    rule: rule, severity: .warning, message: "step \"\(step.name)\": \(message)", file: nil, line: nil,
                    column: nil, suggestion: nil))
        }
        for source in step.testResults {
            switch source {
            case .swiftPMConsole:
                guard let log = attempt.record.log else {
                    find("no-results", "it printed nothing, so there are no results to read in its output")
                    continue
                }
                do {
                    sets.append(
                        try reader.read(
                            file: setting.logs.appending(log.file).string, named: "the output of \"\(step.name)\"",
                            format: .swiftpmConsole))
                } catch { find("result-file", "its output can't be read for results: \(error)") }
            case .junit(let pattern), .swiftTestingEvents(let pattern):
                guard let glob = try? Glob(pattern) else { continue }
                let format: ResultFormat = if case .junit = source { .junit } else { .swiftTestingEvents }
                let search = files.matching([glob])
                for problem in search.problems { find("result-file", problem) }
                let own = search.matches.filter { before[$0.path] != $0.stamp }
                if own.isEmpty {
                    find(
                        "no-results",
                        "it wrote no file that \"\(pattern)\" matches"
                            + (search.matches.isEmpty
                                ? "; check the pattern or the command's options"
                                : "; \(search.matches.count) from before it started are not counted"))
                }
                for match in own {
                    // The name is the step's choice, and the archive keeps it.
                    let isSecret = setting.secrets.masker?.secret(in: match.path) != nil
                    let name = isSecret ? nil : FilePath(match.path).lastComponent?.string
                    let copied =
                        "\(String(index + 1).leftPadded(to: 3))-\(attempt.record.number)-\(attempt.resultFiles.count + 1)-\(name ?? "results")"
                    do {
                        _ = try files.copy(
                            match.path, to: setting.results.appending(copied), masker: setting.secrets.masker,
                            policy: .mask)
                        attempt.resultFiles.append(copied)
                        sets.append(
                            try reader.read(
                                file: setting.results.appending(copied).string, named: match.path, format: format))
                    } catch { find("result-file", "\(error)") }
                }
            }
        }
        let merged = sets.reduce(TestResults()) { $0.merging($1) }
        attempt.findings += merged.findings
        attempt.tests = merged.tests.map { test in
            var test = test
            // A runner's own reruns count on from the attempts of the step before.
            test.attempt += attempt.record.number - 1
            return test
        }
        if attempt.record.status == .passed,
            let failed = merged.tests.first(where: { $0.status == .failed || $0.status == .errored }),
            !merged.tests.contains(where: { $0.id == failed.id && $0.attempt > failed.attempt })
        {
            find(
                "failed-test-passed-step",
                "the command ended with 0 although \(failed.id) failed; its exit code decides")
        }
    }

    private func collectArtifacts(of step: PlannedStep, into outcome: inout StepOutcome) {
        let files = WorkspaceFiles(root: setting.workspace, limits: setting.fileLimits)
        var total = 0
        var problems: [String] = []
        for pattern in step.artifacts {
            guard let glob = try? Glob(pattern) else { continue }
            let search = files.matching([glob])
            problems += search.problems
            if search.matches.isEmpty && search.problems.isEmpty {
                problems.append(
                    "no file matches the artifact pattern \"\(pattern)\"; check the pattern, or the command that makes it"
                )
            }
            for match in search.matches where !outcome.artifacts.contains(where: { $0.path == match.path }) {
                // A file may say any size of itself: the sum must not overflow.
                let fits = match.bytes <= setting.fileLimits.totalBytes - total
                if fits { total += match.bytes }
                guard fits else {
                    problems.append(
                        "with \(match.path) the artifacts go beyond \(grouped(setting.fileLimits.totalBytes)) bytes for a step; pack or leave out some"
                    )
                    break
                }
                let temporary = setting.artifacts.appending(".\(UInt64.random(in: .min ... .max))")
                do {
                    if let name = setting.secrets.masker?.secret(in: match.path) {
                        throw WorkspaceFileProblem(
                            path: match.path, reason: "it is named by secret \(name)", secret: name)
                    }
                    let (digest, bytes) = try files.copy(match.path, to: temporary, masker: setting.secrets.masker)
                    try FileManager.default.moveReplacing(
                        temporary.string, to: setting.artifacts.appending(digest).string)
                    outcome.artifacts.append(
                        ArtifactRecord(
                            step: step.name, path: match.path, bytes: bytes, sha256: digest,
                            isExecutable: match.isExecutable))
                } catch {
                    _ = temporary.withPlatformString { unlink($0) }
                    if let secret = (error as? WorkspaceFileProblem)?.secret {
                        // Before all others: whoever reads one reason must read this one.
                        problems.insert("artifact \(match.path) contains secret \(secret) and was not kept", at: 0)
                    } else {
                        problems.append("\(error)")
                    }
                }
            }
        }
        guard let problem = problems.first else { return }
        // A step that promised files and left none has not done its work, whatever its exit code says; one that
        // failed anyway may never have come to make them.
        let isCause = outcome.record.status == .passed
        outcome.findings += problems.map {
            Finding(
                rule: "artifact", severity: isCause ? .error : .note, message: "step \"\(step.name)\": \($0)",
                file: nil, line: nil, column: nil, suggestion: nil)
        }
        if isCause {
            outcome.record.status = .failed
            outcome.record.reason = problem
            outcome.isFlaky = false
        }
    }
}

extension AttemptRecord {
    /// Whether a failure of this kind is worth another attempt.
    fileprivate func deserves(_ condition: RetryCondition) -> Bool {
        switch condition {
        case .anyFailure: status.isFailure
        case .exitCodes(let codes): exitCode.map(codes.contains) ?? false
        case .infrastructure: status == .infrastructure
        }
    }
}

extension TestCounts {
    /// Counts each test of an attempt once, by its last try.
    fileprivate init(lastTriesOf tests: [TestResult]) {
        let counts = TestResults(tests: tests).counts
        self.init(
            passed: counts.passed, failed: counts.failed + counts.errored, skipped: counts.skipped,
            expectedFailures: counts.expectedFailure)
    }
}

extension String {
    func leftPadded(to width: Int) -> String { String(repeating: "0", count: max(width - count, 0)) + self }
}

extension FileManager {
    /// Renames over whatever is there.
    func moveReplacing(_ source: String, to target: String) throws {
        guard rename(source, target) == 0 else { throw Errno(rawValue: errno) }
    }
}
