import Masking
import Results
import TestReports
import Pipeline
import SystemPackage

/// Reads the test results that an attempt leaves.
extension StepRunner {
    /// The result files that exist before an attempt. Only those that it changes or replaces count as its own.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if the machine can't find that out.
    func resultFiles(of step: PlannedStep) throws -> [String: FileStamp] {
        let globs = step.testResults.compactMap { source -> Glob? in
            switch source {
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern): try? Glob(pattern)
            case .swiftPMConsole: nil
            }
        }
        let sarif = (step.findings ?? []).compactMap { $0.sarifGlob.flatMap { try? Glob($0) } }
        guard !globs.isEmpty || !sarif.isEmpty else { return [:] }
        let search = workspace(of: step).matching(globs + sarif)
        if let gap = search.gap, gap.machineError != nil { throw gap }
        return Dictionary(search.matches.map { ($0.path, $0.stamp) }, uniquingKeysWith: { first, _ in first })
    }

    /// Refuses a step whose results could not be read: without them it would count for more than it is known to have
    /// done.
    func refuse(_ problem: WorkspaceFileProblem, of step: PlannedStep, _ attempt: inout Attempt) {
        guard let code = problem.machineError, attempt.record.status == .passed else { return }
        attempt.record.status = .infrastructure
        attempt.record.reason = unkept("result file \(problem.path)", of: step, code)
    }

    /// The files of the step's workspace.
    private func workspace(of step: PlannedStep) -> WorkspaceFiles {
        WorkspaceFiles(source: place.files(.workspace, of: step), limits: setting.fileLimits)
    }

    func readResults(of work: Work, into attempt: inout Attempt) {
        let step = work.step
        var merged = TestResults()
        for source in step.testResults {
            switch source {
            case .swiftPMConsole:
                guard let results = resultsInOutput(of: step, &attempt) else { continue }
                merged = merged.merging(results)
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern):
                guard let glob = try? Glob(pattern) else { continue }
                merged = merged.merging(results(matching: glob, of: work, &attempt))
            }
        }
        if TestLog.isWanted(for: merged.tests), let log = attempt.record.log,
            let output = try? TestLog(file: setting.logs.appending(log.file).string)
        {
            merged.tests = output.completing(merged.tests)
        }
        attempt.findings += merged.findings
        attempt.tests = merged.tests.map { test in
            var test = test
            // The attempts that a test tool counts itself continue the numbers of the step's attempts.
            test.attempt += attempt.record.number - 1
            return test
        }
        if attempt.record.status == .passed, let failed = TestResults.lastFailures(among: merged.tests).first {
            warn(
                "failed-test-passed-step",
                "the command exited with 0 although \(failed.id) failed; the exit code decides", step, &attempt)
        }
    }

    private func warn(_ rule: String, _ message: String, _ step: PlannedStep, _ attempt: inout Attempt) {
        attempt.findings.append(
            Finding(rule: rule, severity: .warning, message: "step \"\(step.name)\": \(message)"))
    }

    /// Whether the command was ended before it may have written its results; then nothing is wrong with the pattern.
    private func wasStopped(_ attempt: Attempt) -> Bool {
        [.cancelled, .timedOut, .infrastructure].contains(attempt.record.status)
    }

    private func resultsInOutput(of step: PlannedStep, _ attempt: inout Attempt) -> TestResults? {
        guard let log = attempt.record.log else {
            if !wasStopped(attempt) {
                warn("no-results", "it printed nothing, so its output has no test results", step, &attempt)
            }
            return nil
        }
        do {
            return try TestResultReader().read(
                file: setting.logs.appending(log.file).string, named: "the output of \"\(step.name)\"",
                format: .swiftpmConsole)
        } catch {
            warn("result-file", "its output can't be read for results: \(error)", step, &attempt)
            return nil
        }
    }

    private func results(matching glob: Glob, of work: Work, _ attempt: inout Attempt) -> TestResults {
        let step = work.step
        let files = workspace(of: step)
        let search = files.matching([glob])
        for problem in search.problems { warn("result-file", problem, step, &attempt) }
        if let gap = search.gap { refuse(gap, of: step, &attempt) }
        let own = search.matches.filter { work.before[$0.path] != $0.stamp }
        if own.isEmpty, !wasStopped(attempt) {
            warn(
                "no-results",
                "it wrote no file that matches \"\(glob.pattern)\""
                    + (search.matches.isEmpty
                        ? "; check the pattern or the command's options"
                        : "; \(search.matches.count) older files are ignored"),
                step, &attempt)
        }
        return TestResults.joining(own.compactMap { contents(of: $0, in: files, work, &attempt) })
    }

    /// Copies a result file and reads it; returns nil, and notes why, if that is impossible.
    private func contents(
        of match: FileMatch, in files: WorkspaceFiles, _ work: Work, _ attempt: inout Attempt
    ) -> ResultFileContent? {
        // The step chooses the file's name, and the archive stores it, so it is searched for secrets, too.
        let isSecret = setting.secrets.masker?.secret(in: match.path) != nil
        let name = isSecret ? nil : FilePath(match.path).lastComponent?.string
        let copied = "\(work.label)-\(attempt.resultFiles.count + 1)-\(name ?? "results")"
        do {
            let copy = setting.results.appending(copied)
            _ = try files.copy(match.path, to: copy, masker: setting.secrets.masker, policy: .mask)
            attempt.resultFiles.append(copied)
            return ResultFileContent(
                path: isSecret ? copied : match.path,
                results: try TestResultReader().read(file: copy.string, named: match.path))
        } catch {
            warn("result-file", "\(error)", work.step, &attempt)
            if let problem = error as? WorkspaceFileProblem { refuse(problem, of: work.step, &attempt) }
            return nil
        }
    }
}
