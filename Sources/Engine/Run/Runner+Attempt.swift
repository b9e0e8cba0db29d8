import Concurrency
import Results
import Foundation
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Runner {
    struct Attempt {
        var record: AttemptRecord
        var tests: [TestResult] = []
        var findings: [Finding] = []
        var resultFiles: [String] = []
        /// Findings of tools and of the step itself. Of a step's attempts, those of the last one count.
        var diagnostics: [Finding] = []
        var review: ReviewRecord?
        /// Whether its command ran to its end.
        var hasActed = false
    }

    func runAttempt(
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
            let host = hosts.host(
                for: setting.policy(of: step, hasSecrets: setting.secrets.areGiven(to: step)), in: setting)
            defer { setting.removeSecretsFolder(of: command) }
            let before =
                step.testResults.isEmpty && step.findings == nil
                ? [:] : try await onOwnThread { try resultFiles(of: step) }
            if let journal = setting.journal {
                let intent = StepIntent(
                    step: step.name, attempt: number, command: step.commandLine, isIdempotent: step.isIdempotent,
                    startedAt: start)
                do { try await journal.begin(intent) } catch { throw UnrecordedIntent(cause: error) }
            }
            // Progress is reported in a task of its own, so that a slow listener never slows the reading of output.
            async let progress: Void = {
                for await (line, bytes) in log.lastLines {
                    await emit(.stepOutput(step: step.name, attempt: number, lastLine: line, bytes: bytes))
                }
            }()
            let end: Result<ProcessEnd, any Error>
            do {
                end = .success(
                    try await StepProcess(
                        host: host, grace: setting.grace, launched: setting.launched, loop: hosts.loop
                    ).run(
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
            await setting.shutdown?.leaveIfTold(after: end)
            switch end {
            case .success(let end):
                attempt.hasActed = true
                attempt.record.exitCode = end.exitCode
                attempt.record.signal = end.signal
                // This is the code that a shell reports for the signal. Some shells replace themselves with the last
                // program of a line, so the signal ends the shell's own process. `.retries(on: .exitCodes(137))` works
                // in both cases.
                if case .shell = step.action, end.stopped == nil, let signal = end.signal {
                    attempt.record.exitCode = 128 + signal
                }
                (attempt.record.status, attempt.record.reason) = judge(end)
                if end.stopped?.kind == .limitReached { attempt.record.hitLimit = true }
                if end.stopped == nil, let cause = allowance.cause(of: end) {
                    (attempt.record.status, attempt.record.reason) = (.failed, cause)
                    attempt.record.hitLimit = true
                } else if attempt.record.status == .failed, end.stopped == nil, let reason = attempt.record.reason,
                    let suspicion = LimitSuspicion(in: log.end, of: command.limits)
                {
                    attempt.record.reason = "\(reason); \(suspicion)"
                } else if attempt.record.status == .passed, let survived = allowance.survivedBreach {
                    attempt.findings.append(
                        Finding(
                            rule: "limit", severity: .warning, message: survived, file: nil, line: nil, column: nil,
                            suggestion: "check which process was ended, or raise the limit"))
                }
            case .failure(let problem):
                judge(problem, step, &attempt.record)
                log.append("pipectl: \(attempt.record.reason ?? "")\n")
            }
            if attempt.record.status == .passed, !step.publishes.isEmpty,
                let problem = try await onOwnThread({ adoptValues(of: step, from: published) })
            {
                (attempt.record.status, attempt.record.reason) = problem
            }
            if let review = step.review {
                let ended = attempt
                attempt = try await onOwnThread {
                    var attempt = ended
                    judgeReview(review, of: step, from: published, into: &attempt)
                    return attempt
                }
            }
            finish(log, start, step, &attempt.record)
            let isRead = attempt.record.status == .failed || attempt.record.status == .timedOut
            if !step.testResults.isEmpty || step.findings != nil || step.action == .closure || isRead {
                let ended = attempt
                attempt = try await onOwnThread {
                    var attempt = ended
                    if !step.testResults.isEmpty { readResults(of: step, at: index, since: before, into: &attempt) }
                    readFindings(of: step, at: index, since: before, published: published, into: &attempt)
                    return attempt
                }
            }
        } catch let unrecorded as UnrecordedIntent {
            finish(log, start, step, &attempt.record)
            attempt.record.status = .infrastructure
            attempt.record.reason = "it was not started: \(unrecorded)"
        } catch {
            finish(log, start, step, &attempt.record)
            attempt.record.status = .infrastructure
            attempt.record.reason =
                attempt.hasActed
                ? "its files could not be read: \(error)"
                    + (mayRepeat(step)
                        ? "" : "; check by hand what it did before you rerun it: it did run")
                : "it could not be run: \(error)"
        }
        return attempt
    }

    func finish(_ log: AttemptLog, _ start: Date, _ step: PlannedStep, _ record: inout AttemptRecord) {
        guard record.endedAt == nil else { return }
        let ended = log.finish()
        record.log = ended.log
        record.endedAt = start.addingTimeInterval(log.elapsed.inSeconds)
        if let problem = ended.problem, record.status != .cancelled {
            record.status = .infrastructure
            record.reason =
                (problem.isFull
                    ? "disk full: its log could not be written to the end. "
                    : "its log could not be written: \(problem). ")
                + advice(problem, step)
        }
    }

    func judge(_ end: ProcessEnd) -> (StepStatus, String?) {
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
        // Shells report a program that a signal has ended like this (POSIX.1-2024, 2.8.2); other programs do so, too.
        case let code? where (129...159).contains(code):
            return (
                .failed,
                "exit code \(code), which stands for signal \(code - 128) (\(String(cString: strsignal(code - 128))))"
            )
        case let code?: return (.failed, "exit code \(code)")
        case nil: return (.infrastructure, "its end is not known")
        }
    }

    func judge(_ problem: any Error, _ step: PlannedStep, _ record: inout AttemptRecord) {
        record.status = .infrastructure
        if let mount = setting.workspaceMount, !mount.isThere() {
            record.reason =
                "the process that holds the run's workspace was killed; rerun"
            return
        }
        switch problem {
        case StepProcessProblem.command(let code):
            let program =
                switch step.action {
                case .shell: "/bin/sh"
                case .command(let words): words.first ?? ""
                case .closure, .approval: "the compiled workflow"
                }
            record.reason = "\"\(program)\" can't be started: \(code)"
            // If pipectl's own program could not start, that is an infrastructure failure; if the step's program could
            // not, the step failed.
            guard case .command = step.action else { return }
            record.status = .failed
            // These are the exit codes that a shell uses.
            record.exitCode = code == .noSuchFileOrDirectory ? 127 : 126
            if code == .noSuchFileOrDirectory { record.reason? += "; is it installed, and in the step's PATH?" }
        case StepProcessProblem.folder(let code):
            if let folder = step.workingDirectory {
                record.status = .failed
                record.reason =
                    "its working directory \"\(folder)\" can't be entered: \(code); it must exist when the step starts"
            } else {
                record.reason = "the workspace can't be entered: \(code)"
            }
        case StepProcessProblem.system(let code):
            record.reason = "it could not be started: \(code); the build box is overloaded: run fewer steps at a time"
        case let problem as StepHostProblem where StepProcess.passes(problem.errno):
            record.reason =
                "it could not be started: \(problem.errno); the build box is overloaded: run fewer steps at a time"
        case let code as Errno where StepProcess.passes(code):
            record.reason = "it could not be started: \(code); the build box is overloaded: run fewer steps at a time"
        case StepProcessProblem.lost:
            record.reason =
                "its supervisor stepinit was killed; all processes of the step were ended"
        case StepProcessProblem.secret(let code):
            record.reason = "its secrets could not be handed over: \(code)"
        case StepProcessProblem.group(let code):
            record.reason = "it could not enter its control group: \(code); see `pipectl doctor`"
        case StepProcessProblem.nulByte:
            record.status = .failed
            record.reason = "its command or environment contains a NUL byte"
        default:
            record.reason = "it could not be started: \(problem)"
        }
    }
}
