import Foundation
import Pipeline
import SystemPackage

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
    func runStep(_ index: Int, of plan: Plan, stop: StopSignal) async -> StepOutcome {
        let step = plan.steps[index]
        var outcome = StepOutcome(
            record: StepRecord(
                name: step.name, command: step.commandLine, needs: step.needs, allowsFailure: step.allowsFailure))
        for number in 1...(step.retry.count + 1) {
            if number > 1 {
                let pause = step.retry.backoff.pause(beforeAttempt: number)
                if let request = await firstStop(stop, within: .seconds(pause)) {
                    return finished(outcome, .cancelled, request.reason)
                }
            }
            guard await acquire(step, stop) else {
                return finished(outcome, .cancelled, stop.request?.reason ?? "cancelled")
            }
            let attempt = await runAttempt(number, of: step, at: index, stop: stop)
            await pool.release(step.resources)
            outcome.record.attempts.append(attempt.record)
            outcome.findings += attempt.findings
            outcome.tests += attempt.tests
            outcome.resultFiles += attempt.resultFiles
            await emit(.attemptEnded(step: step.name, attempt: attempt.record))
            outcome.record.status = attempt.record.status
            outcome.record.reason = attempt.record.reason
            let again =
                number <= step.retry.count && stop.request == nil && attempt.record.deserves(step.retry.condition)
            if !again { break }
        }
        outcome.isFlaky =
            outcome.record.status == .passed
            && outcome.record.attempts.contains { $0.status == .failed || $0.status == .timedOut }
        let last = outcome.tests.last?.attempt
        if !outcome.tests.isEmpty {
            outcome.record.testCounts = TestCounts(outcome.tests.filter { $0.attempt == last })
        }
        collectArtifacts(of: step, into: &outcome)
        return outcome
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
        if let reason = await pool.obstacle(to: step.resources) {
            await emit(.stepWaiting(step: step.name, reason: reason))
        }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await pool.acquire(step.resources) }
            group.addTask {
                _ = await stop.wait()
                return false
            }
            var granted = await group.next() ?? false
            group.cancelAll()
            // Granted in the moment of the stop: what was taken is given back.
            for await late in group where late { granted = true }
            if granted && stop.request != nil {
                await pool.release(step.resources)
                return false
            }
            return granted
        }
    }

    private struct Attempt {
        var record: AttemptRecord
        var tests: [TestResult] = []
        var findings: [Finding] = []
        var resultFiles: [String] = []
    }

    private func runAttempt(_ number: Int, of step: PlannedStep, at index: Int, stop: StopSignal) async -> Attempt {
        let start = Date()
        await emit(.stepStarted(step: step.name, attempt: number, at: start))
        let name = "\(String(index + 1).leftPadded(to: 3))-\(number).log"
        let log = AttemptLog(folder: setting.logs, name: name, limits: setting.logLimits)
        var record = AttemptRecord(number: number, startedAt: start)
        do {
            let command = try prepare(step, attempt: number)
            // Progress goes out beside the output, so a slow listener never slows the bytes.
            let end = try await withThrowingTaskGroup(of: ProcessEnd?.self) { group in
                group.addTask {
                    for await (line, bytes) in log.lastLines {
                        await emit(.stepOutput(step: step.name, attempt: number, lastLine: line, bytes: bytes))
                    }
                    return nil
                }
                group.addTask {
                    defer { log.finishLines() }
                    return try await StepProcess(stepInit: setting.stepInit, grace: setting.grace).run(
                        command, timeout: .seconds(step.timeout), stop: stop, output: log.append)
                }
                var end: ProcessEnd?
                while let next = try await group.next() { end = end ?? next }
                return end ?? ProcessEnd()
            }
            record.exitCode = end.exitCode
            record.signal = end.signal
            (record.status, record.reason) = judge(end, step)
            if record.status == .passed, let missing = missingValue(of: step) {
                (record.status, record.reason) = (.failed, missing)
            }
        } catch {
            record.status = .infrastructure
            record.reason = "it could not be started: \(error)"
        }
        let ended = log.finish()
        record.log = ended.log
        record.endedAt = start.addingTimeInterval(log.elapsed.inSeconds)
        if let problem = ended.problem, record.status != .cancelled {
            record.status = .infrastructure
            record.reason =
                "its log could not be written: \(problem). Free space on the state folder's disk, then rerun."
        }
        var attempt = Attempt(record: record)
        if !step.testResults.isEmpty { readResults(of: step, at: index, since: start, into: &attempt) }
        return attempt
    }

    private func judge(_ end: ProcessEnd, _ step: PlannedStep) -> (StepStatus, String?) {
        let killed = end.signal == SIGKILL ? "; it ignored SIGTERM for \(setting.grace.inWords) and was killed" : ""
        if let stopped = end.stopped {
            return (stopped.kind == .timedOut ? .timedOut : .cancelled, stopped.reason + killed)
        }
        if let signal = end.signal {
            return (.failed, "ended by signal \(signal) (\(String(cString: strsignal(signal))))")
        }
        switch end.exitCode {
        case 0: return (.passed, nil)
        case 126 where !step.action.isShell, 127 where !step.action.isShell:
            return (.failed, "the program can't be started: see the end of its log")
        case let code?: return (.failed, "exit code \(code)")
        case nil: return (.infrastructure, "how it ended is not known")
        }
    }

    /// Why a step that passed has not published what it declares, or nil.
    private func missingValue(of step: PlannedStep) -> String? {
        for name in step.publishes {
            guard let data = FileManager.default.contents(atPath: setting.values.appending("\(name).json").string)
            else {
                return
                    "it declares .publishes(\"\(name)\") but published nothing: write $\(StepVariable.valuesOut)/\(name).json"
            }
            guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil else {
                return "what it published as \"\(name)\" is not JSON; a text needs quotes"
            }
        }
        return nil
    }

    private func prepare(_ step: PlannedStep, attempt: Int) throws -> StepCommand {
        var folder = setting.workspace
        if let relative = step.workingDirectory { folder = folder.appending(relative) }
        let valuesOut = setting.values
        var environment = setting.environment
        environment.merge(step.environment) { _, new in new }
        environment["PIPECTL_STEP"] = step.name
        environment[StepVariable.workspace] = setting.workspace.string
        environment[StepVariable.attempt] = String(attempt)
        environment[StepVariable.valuesIn] = setting.values.string
        environment[StepVariable.valuesOut] = valuesOut.string
        let arguments =
            switch step.action {
            case .shell(let line): ["/bin/sh", "-ec", line]
            case .command(let words): words
            case .closure: setting.closureCommand(step.name)
            }
        return StepCommand(arguments: arguments, workingDirectory: folder, environment: environment)
    }

    private func readResults(of step: PlannedStep, at index: Int, since start: Date, into attempt: inout Attempt) {
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
                guard let log = attempt.record.log else { continue }
                do {
                    sets.append(
                        try reader.read(
                            file: setting.logs.appending(log.file).string, named: "the output of \"\(step.name)\"",
                            format: .swiftpmConsole))
                } catch { find("result-file", "its output can't be read for results: \(error)") }
            case .junit(let pattern), .swiftTestingEvents(let pattern):
                guard let glob = try? Glob(pattern) else { continue }
                let format: ResultFormat = if case .junit = source { .junit } else { .swiftTestingEvents }
                // The file system's clock ticks more coarsely than ours.
                let search = files.matching([glob], changedSince: start.addingTimeInterval(-0.02))
                for problem in search.problems { find("result-file", problem) }
                if search.matches.isEmpty {
                    find(
                        "no-results",
                        "it wrote no file that \"\(pattern)\" matches; check the pattern or the command's options")
                }
                for match in search.matches {
                    let copied =
                        "\(String(index + 1).leftPadded(to: 3))-\(attempt.record.number)-\(attempt.resultFiles.count + 1)-\(FilePath(match.path).lastComponent?.string ?? "results")"
                    do {
                        _ = try files.copy(match.path, to: setting.results.appending(copied))
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
        guard !step.artifacts.isEmpty, outcome.record.status != .cancelled else { return }
        let files = WorkspaceFiles(root: setting.workspace, limits: setting.fileLimits)
        var total = 0
        for pattern in step.artifacts {
            guard let glob = try? Glob(pattern) else { continue }
            let search = files.matching([glob])
            var problems = search.problems
            if search.matches.isEmpty && problems.isEmpty {
                problems.append(
                    "no file matches the artifact pattern \"\(pattern)\"; check the pattern, or the command that makes it"
                )
            }
            for match in search.matches where !outcome.artifacts.contains(where: { $0.path == match.path }) {
                total += match.bytes
                guard match.bytes <= setting.fileLimits.fileBytes, total <= setting.fileLimits.totalBytes else {
                    problems.append(
                        "\(match.path) goes beyond the limit of \(setting.fileLimits.totalBytes) bytes for a step's artifacts"
                    )
                    break
                }
                let temporary = setting.artifacts.appending(".\(UInt64.random(in: .min ... .max))")
                do {
                    let (digest, bytes) = try files.copy(match.path, to: temporary)
                    try FileManager.default.moveReplacing(
                        temporary.string, to: setting.artifacts.appending(digest).string)
                    outcome.artifacts.append(
                        ArtifactRecord(
                            step: step.name, path: match.path, bytes: bytes, sha256: digest,
                            isExecutable: match.isExecutable))
                } catch {
                    problems.append("\(match.path) can't be kept: \(error)")
                }
            }
            guard let problem = problems.first else { continue }
            outcome.findings += problems.map {
                Finding(
                    rule: "artifact", severity: .error, message: "step \"\(step.name)\": \($0)", file: nil, line: nil,
                    column: nil, suggestion: nil)
            }
            // A step that promised files and left none has not done its work, whatever its exit code says.
            if outcome.record.status == .passed {
                outcome.record.status = .failed
                outcome.record.reason = problem
            }
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

extension PlannedStep.Action {
    fileprivate var isShell: Bool { if case .shell = self { true } else { false } }
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
