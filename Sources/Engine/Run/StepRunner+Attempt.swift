import Concurrency
import Foundation
import Pipeline
import Results
import Sandbox
import StepLogs
import SystemPackage

extension StepRunner {
    struct Attempt: Sendable, Codable {
        var record: AttemptRecord
        var tests: [TestResult] = []
        var findings: [Finding] = []
        var resultFiles: [String] = []
        var artifacts: [ArtifactRecord] = []
        /// Findings of tools and of the step itself. Of a step's attempts, those of the last one count.
        var diagnostics: [Finding] = []
        var review: ReviewRecord?
        /// Whether its command ran, or may have run.
        var hasActed = false
    }

    /// What belongs to one attempt while it is made.
    struct Work: Sendable {
        let order: StepAttempt
        /// The index of the step in the plan.
        let index: Int
        let start: Date
        let log: AttemptLog
        /// The result files from before the attempt.
        var before: [String: FileStamp] = [:]

        var step: PlannedStep { order.step }
        /// The start of the names of the attempt's files.
        var label: String { order.label }
    }

    /// The name of an attempt's files.
    ///
    /// - Parameter index: The index of the step in the plan.
    static func label(_ index: Int, attempt number: Int) -> String {
        "\(String(index + 1).leftPadded(to: 3))-\(number)"
    }

    func runAttempt(_ number: Int, of step: PlannedStep, at index: Int, stop: StopSignal) async -> Attempt {
        let label = Self.label(index, attempt: number)
        if let known = setting.kept?.attempt(label) {
            await emit(
                .stepStarted(
                    step: step.name, attempt: number, at: known.record.startedAt, machine: known.record.machine))
            return known
        }
        let attempt = await newAttempt(number, label, of: step, at: index, stop: stop)
        setting.kept?.keep(setting.secrets.masker.map { attempt.masked(by: $0) } ?? attempt, label)
        return attempt
    }

    /// Makes an attempt, or goes on with one that an earlier life of the daemon began.
    private func newAttempt(
        _ number: Int, _ label: String, of step: PlannedStep, at index: Int, stop: StopSignal
    ) async -> Attempt {
        let begun = setting.kept?.takeBegin(label, next: Self.label(index, attempt: number + 1))
        let start = begun?.startedAt ?? Date()
        await emit(.stepStarted(step: step.name, attempt: number, at: start, machine: machine))
        let log = AttemptLog(
            folder: setting.logs, name: label + ".log", limits: setting.logLimits, masker: setting.secrets.masker,
            since: start)
        setting.outputs?.begin(log)
        var work = Work(order: self.attempt(number, of: step, label: label), index: index, start: start, log: log)
        var attempt = Attempt(record: AttemptRecord(number: number, startedAt: start))
        attempt.record.machine = machine
        do {
            if let begun {
                work.before = begun.before
                try await onOwnThread { try removeResults(of: label) }
            } else if !step.testResults.isEmpty || step.findings != nil {
                work.before = try await onOwnThread { try resultFiles(of: step) }
            }
            try await recordIntent(work)
            let end = await act(work, stop)
            judge(end, work, &attempt)
            attempt = try await takeOver(work, attempt)
            finish(work, &attempt.record)
            attempt = try await read(work, attempt)
        } catch {
            finish(work, &attempt.record)
            attempt.record.status = .infrastructure
            attempt.record.reason = reason(for: error, attempt, step)
        }
        return attempt
    }

    /// Removes what an earlier life of the daemon had taken of an attempt's results when it ended.
    private func removeResults(of label: String) throws {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: setting.results.string)) ?? []
        where name.hasPrefix("\(label)-") {
            try files.removeItem(atPath: setting.results.appending(name).string)
        }
    }

    private func reason(for error: any Error, _ attempt: Attempt, _ step: PlannedStep) -> String {
        if error is UnrecordedIntent { return "it was not started: \(error)" }
        guard attempt.hasActed else { return "it could not be run: \(error)" }
        return "its files could not be read: \(error)" + byHand(step)
    }

    /// Records that the command is about to run, where another life of the daemon may go on with it, and in runs whose
    /// steps must not run twice.
    private func recordIntent(_ work: Work) async throws {
        do { try setting.kept?.begin(work, on: machine) } catch { throw UnrecordedIntent(cause: error) }
        guard let journal = setting.journal else { return }
        let intent = StepIntent(
            step: work.step.name, attempt: work.order.number, command: work.step.commandLine,
            isIdempotent: work.step.isIdempotent, startedAt: work.start)
        do { try await journal.begin(intent) } catch { throw UnrecordedIntent(cause: error) }
    }

    /// Runs the command and reports its progress.
    private func act(_ work: Work, _ stop: StopSignal) async -> Result<AttemptEnd, any Error> {
        let log = work.log
        // Progress is reported in a task of its own, so that a slow listener never slows the reading of output.
        async let progress: Void = {
            for await (line, bytes) in log.lastLines {
                await emit(
                    .stepOutput(step: work.step.name, attempt: work.order.number, lastLine: line, bytes: bytes))
            }
        }()
        let end: Result<AttemptEnd, any Error>
        do {
            if work.step.action.startsProcess {
                end = .success(try await place.run(work.order, stop: stop) { log.append($0) })
            } else {
                end = .success(try await release(work, stop))
            }
        } catch {
            end = .failure(error)
        }
        log.finishLines()
        await progress
        await setting.shutdown?.leaveIfTold(after: end.map(\.process))
        return end
    }

    /// Takes over what a passed attempt published, and the answer of a reviewer.
    private func takeOver(_ work: Work, _ attempt: Attempt) async throws -> Attempt {
        let takesValues = attempt.record.status == .passed && !work.step.publishes.isEmpty
        guard takesValues || work.step.review != nil else { return attempt }
        return try await onOwnThread {
            var attempt = attempt
            if takesValues, let problem = adoptValues(of: work.order) {
                (attempt.record.status, attempt.record.reason) = problem
            }
            if let review = work.step.review { judgeReview(review, of: work.order, into: &attempt) }
            return attempt
        }
    }

    /// Reads the results and findings that the attempt left.
    private func read(_ work: Work, _ attempt: Attempt) async throws -> Attempt {
        let step = work.step
        let hasFailed = attempt.record.status == .failed || attempt.record.status == .timedOut
        guard !step.testResults.isEmpty || step.findings != nil || step.action == .closure || hasFailed else {
            return attempt
        }
        return try await onOwnThread {
            var attempt = attempt
            if !step.testResults.isEmpty { readResults(of: work, into: &attempt) }
            readFindings(of: work, into: &attempt)
            return attempt
        }
    }

    /// Closes the log and notes the end of the attempt, once.
    func finish(_ work: Work, _ record: inout AttemptRecord) {
        guard record.endedAt == nil else { return }
        let ended = work.log.finish()
        setting.outputs?.end(work.log)
        record.log = ended.log
        record.endedAt = work.start.addingTimeInterval(work.log.elapsed.inSeconds)
        if let problem = ended.problem, record.status != .cancelled {
            record.status = .infrastructure
            record.reason =
                (problem.isFull
                    ? "disk full: its log could not be written to the end. "
                    : "its log could not be written: \(problem). ")
                + advice(problem, work.step)
        }
    }
}
