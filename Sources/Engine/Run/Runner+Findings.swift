import TestReports
import Diagnostics
import Results
import Foundation
import Pipeline
import SystemPackage

/// Collects the findings of an attempt: from SARIF files, from its output, and from a closure's context.
extension Runner {
    /// Maximum number of errors of a step that declares no findings: the first say what is wrong, the others follow
    /// from them.
    private static let undeclaredLimit = 30

    func readFindings(
        of step: PlannedStep, at index: Int, since before: [String: WorkspaceFiles.Stamp], published: FilePath,
        into attempt: inout Attempt
    ) {
        var found = step.action == .closure ? reported(published, step) : []
        var rules: [FindingRule] = []
        var readsOutput = false
        for source in step.findings ?? [] {
            switch source {
            case .sarif(let pattern): found += sarif(pattern, "findings.sarif", step, index, before, &attempt)
            case .codeScanning(let pattern):
                found += sarif(pattern, CodeScanningFile.suffix, step, index, before, &attempt)
            case .output: readsOutput = true
            case .matching(let rule): rules.append(rule)
            }
        }
        let hasFailed = attempt.record.status == .failed || attempt.record.status == .timedOut
        if hasFailed || readsOutput || !rules.isEmpty, let log = attempt.record.log,
            let bytes = FileManager.default.contents(atPath: setting.logs.appending(log.file).string)
        {
            var scanner = DiagnosticScanner(rules: rules)
            scanner.hasForms = hasFailed || readsOutput
            scanner.maximumFindings = 1_000
            let printed = scanner.findings(in: bytes)
            // If the step declares no findings, its output is read only to explain a failure.
            let errors = printed.filter { $0.severity == .error }
            let worst = errors.isEmpty ? printed.filter { $0.severity == .warning } : errors
            found += readsOutput || !rules.isEmpty ? printed : Array(worst.prefix(Self.undeclaredLimit))
            // A step that was ended from outside has no position in a file to show.
            if hasFailed, errors.isEmpty || attempt.record.status == .timedOut || attempt.record.hitLimit == true {
                found = UnfinishedTests.findings(in: bytes) + found
            }
        }
        // A failure that a test result holds already is not reported twice.
        let told = attempt.tests
        attempt.diagnostics = found.filter { !$0.isTold(by: told) }.map { finding in
            var finding = finding
            finding.step = step.name
            finding.file = finding.file.map(withoutWorkspace)
            return finding
        }
    }

    /// The path relative to the workspace, if it is inside it.
    private func withoutWorkspace(_ path: String) -> String {
        var path = path.hasPrefix("file://") ? String(path.dropFirst(7)) : path
        for folder in [setting.seen(setting.workspace), setting.workspace, setting.workspaceView] {
            let prefix = folder.string + "/"
            if path.hasPrefix(prefix) {
                path = String(path.dropFirst(prefix.count))
                break
            }
        }
        while path.hasPrefix("./") { path = String(path.dropFirst(2)) }
        return path
    }

    private func sarif(
        _ pattern: String, _ name: String, _ step: PlannedStep, _ index: Int, _ before: [String: WorkspaceFiles.Stamp],
        _ attempt: inout Attempt
    ) -> [Finding] {
        guard let glob = try? Glob(pattern) else { return [] }
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, SARIFReading.maximumBytes)
        let files = WorkspaceFiles(root: setting.workspaceView, limits: limits)
        let search = files.matching([glob])
        var found: [Finding] = search.problems.map { problem(step, $0) }
        let own = search.matches.filter { before[$0.path] != $0.stamp }
        if own.isEmpty { found.append(problem(step, "it wrote no file that matches \"\(pattern)\"")) }
        for match in own.prefix(100) {
            let copied =
                "\(String(index + 1).leftPadded(to: 3))-\(attempt.record.number)-"
                + "\(attempt.resultFiles.count + 1)-\(name)"
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
    private func reported(_ published: FilePath, _ step: PlannedStep) -> [Finding] {
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, 4 << 20)
        var bytes: [UInt8] = []
        do {
            _ = try WorkspaceFiles(root: published, limits: limits).read(
                ReportedFinding.file, masker: setting.secrets.masker, policy: .mask
            ) { bytes.append(contentsOf: $0) }
        } catch let problem as WorkspaceFileProblem where problem.isMissing {
            return []
        } catch {
            return [problem(step, "its findings can't be read: \(error)")]
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
