import TestReports
import Diagnostics
import Results
import Foundation
import Pipeline
import SystemPackage

/// Collects the findings of an attempt: from SARIF files, from its output, and from a closure's context.
extension StepRunner {
    /// Maximum number of errors of a step that declares no findings: the first say what is wrong, the others follow
    /// from them.
    private static let undeclaredLimit = 30

    func readFindings(of work: Work, into attempt: inout Attempt) {
        let step = work.step
        var found = step.action == .closure ? reported(work) : []
        var rules: [FindingRule] = []
        var readsOutput = false
        for source in step.findings ?? [] {
            switch source {
            case .sarif(let pattern): found += sarif(pattern, "findings.sarif", work, &attempt)
            case .codeScanning(let pattern): found += sarif(pattern, CodeScanningFile.suffix, work, &attempt)
            case .output: readsOutput = true
            case .matching(let rule): rules.append(rule)
            }
        }
        found = printed(by: attempt, rules, readsOutput: readsOutput, beside: found)
        // A failure that a test result holds already is not reported twice.
        let told = attempt.tests
        let paths = place.workspacePaths(of: step)
        attempt.diagnostics = found.filter { !$0.isTold(by: told) }.map { finding in
            var finding = finding
            finding.step = step.name
            finding.file = finding.file.map { Self.relative($0, to: paths) }
            return finding
        }
    }

    /// Adds what the output of the attempt holds to the findings of other sources.
    ///
    /// - Parameter readsOutput: Whether the step declares that its output has findings.
    private func printed(
        by attempt: Attempt, _ rules: [FindingRule], readsOutput: Bool, beside found: [Finding]
    ) -> [Finding] {
        let hasFailed = attempt.record.status == .failed || attempt.record.status == .timedOut
        guard hasFailed || readsOutput || !rules.isEmpty, let log = attempt.record.log,
            let bytes = FileManager.default.contents(atPath: setting.logs.appending(log.file).string)
        else { return found }
        var scanner = DiagnosticScanner(rules: rules)
        scanner.hasForms = hasFailed || readsOutput
        scanner.maximumFindings = 1_000
        let printed = scanner.findings(in: bytes)
        // If the step declares no findings, its output is read only to explain a failure.
        let errors = printed.filter { $0.severity == .error }
        let worst = errors.isEmpty ? printed.filter { $0.severity == .warning } : errors
        let all = found + (readsOutput || !rules.isEmpty ? printed : Array(worst.prefix(Self.undeclaredLimit)))
        // A step that was ended from outside has no position in a file to show.
        let isCut = errors.isEmpty || attempt.record.status == .timedOut || attempt.record.hitLimit == true
        return hasFailed && isCut ? UnfinishedTests.findings(in: bytes) + all : all
    }

    /// The path relative to the workspace, if it is inside it.
    private static func relative(_ path: String, to workspaces: [FilePath]) -> String {
        var path = path.hasPrefix("file://") ? String(path.dropFirst(7)) : path
        for folder in workspaces {
            let prefix = folder.string + "/"
            if path.hasPrefix(prefix) {
                path = String(path.dropFirst(prefix.count))
                break
            }
        }
        while path.hasPrefix("./") { path = String(path.dropFirst(2)) }
        return path
    }

    /// - Parameter name: The end of the names of the copied files.
    private func sarif(
        _ pattern: String, _ name: String, _ work: Work, _ attempt: inout Attempt
    ) -> [Finding] {
        guard let glob = try? Glob(pattern) else { return [] }
        let step = work.step
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, SARIFReading.maximumBytes)
        let files = WorkspaceFiles(source: place.files(.workspace, of: step), limits: limits)
        let search = files.matching([glob])
        var found: [Finding] = search.problems.map { problem(step, $0) }
        let own = search.matches.filter { work.before[$0.path] != $0.stamp }
        if own.isEmpty { found.append(problem(step, "it wrote no file that matches \"\(pattern)\"")) }
        for match in own.prefix(100) {
            let copied = "\(work.label)-\(attempt.resultFiles.count + 1)-\(name)"
            let target = setting.results.appending(copied)
            do {
                _ = try files.copy(match.path, to: target, masker: setting.secrets.masker, policy: .mask)
                attempt.resultFiles.append(copied)
                let bytes = FileManager.default.contents(atPath: target.string) ?? Data()
                found += try SARIFReading.findings(in: bytes, named: match.path)
            } catch {
                found.append(problem(step, "\(match.path) can't be read: \(error)"))
                if let problem = error as? WorkspaceFileProblem { refuse(problem, of: step, &attempt) }
            }
        }
        return found
    }

    private func problem(_ step: PlannedStep, _ message: String) -> Finding {
        Finding(rule: "result-file", severity: .warning, message: "step \"\(step.name)\": \(message)")
    }

    /// The findings that the closure passed to `StepContext.report`.
    private func reported(_ work: Work) -> [Finding] {
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, 4 << 20)
        var bytes: [UInt8] = []
        do {
            let source = place.files(.published(label: work.label), of: work.step)
            _ = try WorkspaceFiles(source: source, limits: limits).read(
                ReportedFinding.file, masker: setting.secrets.masker, policy: .mask
            ) { bytes.append(contentsOf: $0) }
        } catch let problem as WorkspaceFileProblem where problem.isMissing {
            return []
        } catch {
            return [problem(work.step, "its findings can't be read: \(error)")]
        }
        let decoder = JSONDecoder()
        return bytes.split(separator: 0x0A).prefix(10_000).compactMap { line in
            guard let one = try? decoder.decode(ReportedFinding.self, from: Data(line)) else { return nil }
            return Finding(
                rule: one.rule, severity: Finding.Severity(rawValue: one.severity) ?? .warning, message: one.message,
                file: one.file, line: one.line, column: one.column, suggestion: one.suggestion
            ).bounded
        }
    }
}
