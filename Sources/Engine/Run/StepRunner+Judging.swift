import Concurrency
import Foundation
import Pipeline
import Results
import Sandbox
import StepLogs
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Decides what the end of a command means for its attempt.
extension StepRunner {
    func judge(_ end: Result<AttemptEnd, any Error>, _ work: Work, _ attempt: inout Attempt) {
        switch end {
        case .success(let end):
            attempt.hasActed = true
            attempt.artifacts = end.artifacts
            judge(end, work, &attempt)
        case .failure(let problem):
            attempt.hasActed = mayHaveActed(problem)
            judge(problem, work.step, &attempt.record)
            work.log.append("pipectl: \(attempt.record.reason ?? "")\n")
        }
    }

    private func judge(_ end: AttemptEnd, _ work: Work, _ attempt: inout Attempt) {
        let process = end.process
        attempt.record.exitCode = process.exitCode
        attempt.record.signal = process.signal
        // This is the code that a shell reports for the signal. Some shells replace themselves with the last program of
        // a line, so the signal ends the shell's own process. `.retries(on: .exitCodes(137))` works in both cases.
        if case .shell = work.step.action, process.stopped == nil, let signal = process.signal {
            attempt.record.exitCode = 128 + signal
        }
        (attempt.record.status, attempt.record.reason) = judge(process)
        if let stopped = process.stopped {
            if stopped.kind == .limitReached { attempt.record.hitLimit = true }
        } else if let limit = end.limit {
            (attempt.record.status, attempt.record.reason) = (.failed, limit)
            attempt.record.hitLimit = true
        } else if attempt.record.status == .failed, let reason = attempt.record.reason,
            let suspicion = LimitSuspicion(in: work.log.end, of: end.processLimits)
        {
            attempt.record.reason = "\(reason); \(suspicion)"
        } else if attempt.record.status == .passed, let survived = end.survivedLimit {
            attempt.findings.append(
                Finding(
                    rule: "limit", severity: .warning, message: survived,
                    suggestion: "check which process was ended, or raise the limit"))
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

    /// Whether the command may have run although nobody knows how it ended.
    private func mayHaveActed(_ problem: any Error) -> Bool {
        switch problem {
        case let problem as PlaceProblem: problem.mayHaveActed
        case StepProcessProblem.lost: true
        default: false
        }
    }

    private func judge(_ problem: any Error, _ step: PlannedStep, _ record: inout AttemptRecord) {
        record.status = .infrastructure
        switch problem {
        case let problem as ReleaseFailure:
            record.status = problem.isOfMachine ? .infrastructure : .failed
            record.reason = problem.reason
        case let problem as PlaceProblem:
            record.reason = problem.reason + (problem.mayHaveActed ? byHand(step) : "")
        case let problem as StepProcessProblem: judge(problem, step, &record)
        case let problem as StepHostProblem where StepProcess.passes(problem.errno):
            record.reason = StepRunner.overloaded(problem.errno)
        case let code as Errno where StepProcess.passes(code): record.reason = StepRunner.overloaded(code)
        default: record.reason = "it could not be started: \(problem)"
        }
    }

    private static func overloaded(_ code: Errno) -> String {
        "it could not be started: \(code); the build box is overloaded: run fewer steps at a time"
    }

    private func judge(_ problem: StepProcessProblem, _ step: PlannedStep, _ record: inout AttemptRecord) {
        switch problem {
        case .command(let code): judge(unstarted: code, step, &record)
        case .folder(let code):
            if let folder = step.workingDirectory {
                record.status = .failed
                record.reason =
                    "its working directory \"\(folder)\" can't be entered: \(code); it must exist when the step starts"
            } else {
                record.reason = "the workspace can't be entered: \(code)"
            }
        case .system(let code): record.reason = StepRunner.overloaded(code)
        case .lost:
            record.reason = "its supervisor stepinit was killed; all processes of the step were ended" + byHand(step)
        case .secret(let code): record.reason = "its secrets could not be handed over: \(code)"
        case .group(let code):
            record.reason = "it could not enter its control group: \(code); see `pipectl doctor`"
        case .nulByte:
            record.status = .failed
            record.reason = "its command or environment contains a NUL byte"
        }
    }

    private func judge(unstarted code: Errno, _ step: PlannedStep, _ record: inout AttemptRecord) {
        let program =
            switch step.action {
            case .shell: "/bin/sh"
            case .command(let words): words.first ?? ""
            case .closure, .approval, .release, .publish: "the compiled workflow"
            }
        record.reason = "\"\(program)\" can't be started: \(code)"
        // If pipectl's own program could not start, that is an infrastructure failure; if the step's program could not,
        // the step failed.
        guard case .command = step.action else { return }
        record.status = .failed
        // These are the exit codes that a shell uses.
        record.exitCode = code == .noSuchFileOrDirectory ? 127 : 126
        if code == .noSuchFileOrDirectory { record.reason? += "; is it installed, and in the step's PATH?" }
    }
}
