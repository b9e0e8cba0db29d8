import DaemonLog
import Preparing
import Workspaces
import StateFiles
import Results
import Store
import Archive
import Engine
import Foundation
import Logging

/// Makes a run's verdict durable, with its report, tests, logs and artifacts: one transaction of the index.
struct RunRecorder: Sendable {
    let state: StateFolder
    let index: Store.Index
    let store: ArchiveStore
    let options: DaemonOptions
    let log: Logger
    /// Whether the daemon was told to cancel its runs and end.
    var isEnding: @Sendable () -> Bool = { false }
    /// The pause after the first failed try. It doubles after each further one, up to 5 s.
    var firstPause = Duration.seconds(1)
    var reserve: ReservedDiskSpace { ReservedDiskSpace(path: state.reserve) }

    /// Tries until the verdict is recorded; false if that is impossible and the run has no report.
    ///
    /// A full disk is temporary, so this waits and keeps the verdict. Once the daemon is told to cancel its runs it
    /// gives up: the next start then finds an interrupted run.
    func record(_ report: Report, _ request: RunRequest, tests: [TestResult] = [], files: RunFiles = RunFiles()) async
        -> Bool
    {
        var (report, files) = (report, files)
        var pause = firstPause
        var tries = 0
        while true {
            tries += 1
            do {
                try await store.record(report, request: request, tests: tests, files: files, in: index)
                if tries > 1 {
                    log.notice(
                        "run \(report.id) (\(report.verdict.title)) is archived now",
                        metadata: .code(.recorded, run: report.id))
                }
                return true
            } catch let error as ArchiveError where error.code == .verdictGiven {
                log.error(
                    "run \(report.id) already has a verdict: \(error)",
                    metadata: .code(.recordingFailed, run: report.id))
                return false
            } catch is CancellationError {
                return false
            } catch {
                let isFull = isFull(error)
                if isFull, makesRoom(for: &report, &files, tries: tries) { continue }
                if tries >= 5, isEnding() {
                    say(
                        "has no recorded verdict, because the daemon is shutting down and the archive can't be written: \(error) The next start treats the run as interrupted.",
                        of: report, .recordingFailed)
                    return false
                }
                if tries >= 8 && !isFull {
                    say("has no report in the archive: \(error)", of: report, .recordingFailed)
                    try? await index.finish(report, tests: tests)
                    return false
                }
                // Logged once and then rarely: a disk that is full for a night must not fill the log's disk.
                if tries == 1 || tries % 60 == 0 {
                    say("can't be archived yet; retrying: \(error)", of: report, .recordingDelayed)
                }
                do { try await Task.sleep(for: pause) } catch {
                    try? await index.finish(report, tests: tests)
                    return false
                }
                pause = min(pause * 2, .seconds(5))
            }
        }
    }

    /// The run that superseded this one; nil if the index names none, or can't be read.
    func successor(of run: RunID) async -> RunID? { try? await index.run(run)?.summary.supersededBy }

    private func say(_ problem: String, of report: Report, _ code: LogCode) {
        log.error(
            "run \(report.id) (\(report.verdict.title)) \(problem)", metadata: .code(code, run: report.id))
    }

    private func isFull(_ error: any Error) -> Bool {
        DiskErrors.isFull(error) || (DiskSpace.free(at: state.path) ?? .max) < options.keptFreeBytes
    }

    /// Frees space for the report on a full disk: first the reserve, after some tries parts of the run's results.
    private func makesRoom(for report: inout Report, _ files: inout RunFiles, tries: Int) -> Bool {
        if reserve.release() {
            log.error(
                "the disk of \(state.path) is full: released the reserve of \(ReservedDiskSpace.bytes >> 20) MiB for the report of run \(report.id)",
                metadata: .code(.reserveReleased, run: report.id)
            )
            return true
        }
        if tries >= 3, dropsOutputs(of: &report, files) { return true }
        return tries >= 4 && dropsLogs(of: &report, &files)
    }

    /// Flushes the acceptance of the run to disk. A failure is no worse than a push that was not observed yet.
    func flushAcceptance(of run: QueuedRun) async {
        do { try await index.flushLooks() } catch {
            log.warning(
                "run \(run.id): it may not be recorded on disk yet: \(error)", metadata: .code(.notDurable, run: run.id)
            )
        }
    }

    /// Drops the outputs of proved steps, which only save time in later runs.
    private func dropsOutputs(of report: inout Report, _ files: RunFiles) -> Bool {
        guard let folder = files.artifacts else { return false }
        let artifacts = Set(report.artifacts.map(\.sha256))
        var bytes = 0
        for step in report.steps.indices where report.steps[step].provedBy == nil {
            guard let made = report.steps[step].outputs else { continue }
            report.steps[step].outputs = nil
            bytes += made.bytes
            // An artifact may have the same bytes.
            if !artifacts.contains(made.sha256) {
                try? FileManager.default.removeItem(atPath: "\(folder)/\(made.sha256)")
            }
        }
        guard bytes > 0 else { return false }
        giveUp(
            "the outputs of its steps (\(bytes >> 20) MiB) were not stored, so later runs build them again: the disk is full",
            .note, "remove old runs with `pipectl gc`", &report)
        return true
    }

    /// Adds a finding that says what the report lacks because the disk is full, and what helps besides a larger disk.
    private func giveUp(_ message: String, _ severity: Finding.Severity, _ help: String, _ report: inout Report) {
        report.findings.append(
            Finding(
                rule: "disk-full", severity: severity, message: message, file: nil, line: nil, column: nil,
                suggestion: "give the state folder more space, or \(help)"))
        log.error("run \(report.id): \(message)", metadata: .code(.reportShortened, run: report.id))
    }

    /// Drops the run's logs if they fill the disk: nothing else would free the space that the report needs.
    private func dropsLogs(of report: inout Report, _ files: inout RunFiles) -> Bool {
        guard let folder = files.logs, let free = DiskSpace.free(at: state.path) else { return false }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let bytes = names.reduce(0) { sum, name in
            let facts = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return sum + (facts?[.size] as? Int ?? 0)
        }
        guard bytes > max(free, ReservedDiskSpace.bytes) else { return false }
        try? FileManager.default.removeItem(atPath: folder)
        store.forget(report.id)
        files.logs = nil
        for step in report.steps.indices {
            for attempt in report.steps[step].attempts.indices { report.steps[step].attempts[attempt].log = nil }
        }
        giveUp(
            "its logs (\(bytes >> 20) MiB) filled the disk and were dropped to store this report", .warning,
            "keep less of each log: --log-limit", &report)
        return true
    }

    /// Where the steps of a run record what they are about to do; nil if they may be repeated after a crash.
    func journal(of run: QueuedRun) -> StepJournal? {
        guard run.request.runsAtMostOnce else { return nil }
        return StepJournal { [index] intent in
            try await index.begin(intent, of: run.id, attempt: run.attempt)
        } end: { [self] step, attempt in
            for pause in [Duration.milliseconds(100), .milliseconds(400), .seconds(1), .zero] {
                do { return try await index.end(step: step, attempt, of: run.id, attempt: run.attempt) } catch {
                    if DiskErrors.isFull(error) { _ = reserve.release() }
                    // If the daemon dies now, the result is unknown and a person is asked once too often, which is the
                    // safe side.
                    if pause == .zero {
                        log.error(
                            "run \(run.id): the result of step \"\(step)\" could not be recorded: \(error)",
                            metadata: .code(.stepEndUnrecorded, run: run.id))
                    }
                    try? await Task.sleep(for: pause)
                }
            }
        }
    }
}
