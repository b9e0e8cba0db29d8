import Masking
import Results
import TestReports
import Foundation
import Pipeline
import SystemPackage

/// Reads the test results that an attempt leaves.
extension Runner {
    /// The result files that exist before an attempt. Only those that it changes or replaces count as its own.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if the machine can't find that out.
    func resultFiles(of step: PlannedStep) throws -> [String: WorkspaceFiles.Stamp] {
        let globs = step.testResults.compactMap { source -> Glob? in
            switch source {
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern): try? Glob(pattern)
            case .swiftPMConsole: nil
            }
        }
        let sarif = (step.findings ?? []).compactMap { $0.sarifGlob.flatMap { try? Glob($0) } }
        guard !globs.isEmpty || !sarif.isEmpty else { return [:] }
        let search = WorkspaceFiles(root: setting.workspaceView, limits: setting.fileLimits).matching(globs + sarif)
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

    func readResults(
        of step: PlannedStep, at index: Int, since before: [String: WorkspaceFiles.Stamp], into attempt: inout Attempt
    ) {
        let reader = TestResultReader()
        let files = WorkspaceFiles(root: setting.workspaceView, limits: setting.fileLimits)
        var sets: [TestResults] = []
        // A command that was stopped may not have come to write its results, so nothing is wrong with the pattern.
        let wasStopped = [.cancelled, .timedOut, .infrastructure].contains(attempt.record.status)
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
                    if !wasStopped {
                        find("no-results", "it printed nothing, so its output has no test results")
                    }
                    continue
                }
                do {
                    sets.append(
                        try reader.read(
                            file: setting.logs.appending(log.file).string, named: "the output of \"\(step.name)\"",
                            format: .swiftpmConsole))
                } catch { find("result-file", "its output can't be read for results: \(error)") }
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern):
                guard let glob = try? Glob(pattern) else { continue }
                let search = files.matching([glob])
                for problem in search.problems { find("result-file", problem) }
                if let gap = search.gap { refuse(gap, of: step, &attempt) }
                let own = search.matches.filter { before[$0.path] != $0.stamp }
                if own.isEmpty, !wasStopped {
                    find(
                        "no-results",
                        "it wrote no file that matches \"\(pattern)\""
                            + (search.matches.isEmpty
                                ? "; check the pattern or the command's options"
                                : "; \(search.matches.count) older files are ignored"))
                }
                var contents: [ResultFileContent] = []
                for match in own {
                    // The step chooses the file's name, and the archive stores it, so it is searched for secrets, too.
                    let isSecret = setting.secrets.masker?.secret(in: match.path) != nil
                    let name = isSecret ? nil : FilePath(match.path).lastComponent?.string
                    let copied =
                        "\(String(index + 1).leftPadded(to: 3))-\(attempt.record.number)-\(attempt.resultFiles.count + 1)-\(name ?? "results")"
                    do {
                        _ = try files.copy(
                            match.path, to: setting.results.appending(copied), masker: setting.secrets.masker,
                            policy: .mask)
                        attempt.resultFiles.append(copied)
                        contents.append(
                            ResultFileContent(
                                path: isSecret ? copied : match.path,
                                results: try reader.read(
                                    file: setting.results.appending(copied).string, named: match.path)))
                    } catch {
                        find("result-file", "\(error)")
                        if let problem = error as? WorkspaceFileProblem { refuse(problem, of: step, &attempt) }
                    }
                }
                sets.append(TestResults.joining(contents))
            }
        }
        var merged = sets.reduce(TestResults()) { $0.merging($1) }
        if TestLog.isWanted(for: merged.tests), let log = attempt.record.log,
            let bytes = FileManager.default.contents(atPath: setting.logs.appending(log.file).string)
        {
            merged.tests = TestLog(bytes).completing(merged.tests)
        }
        attempt.findings += merged.findings
        attempt.tests = merged.tests.map { test in
            var test = test
            // The attempts that a test tool counts itself continue the numbers of the step's attempts.
            test.attempt += attempt.record.number - 1
            return test
        }
        if attempt.record.status == .passed,
            let failed = Self.failures(among: merged.tests).first
        {
            find(
                "failed-test-passed-step",
                "the command exited with 0 although \(failed.id) failed; the exit code decides")
        }
    }
}
