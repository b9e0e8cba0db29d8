import WorkflowPrograms
import Diagnostics
import Engine
import Git
import Pipeline
import Results
import Store

/// A run that has its verdict before any step.
struct EarlyVerdict: Error, Sendable, CustomStringConvertible {
    var verdict: Verdict
    var reason: String
    var conflicts: [Report.Conflict] = []
    var findings: [Finding] = []
    var tested: OID?
    /// What a person is asked, for ``Verdict/needsApproval``, and how far the code is trusted.
    var question: Approval?
    var trust: Trust?

    /// The reason, and under it what the compiler or the validation says.
    var description: String { ([reason] + findings.map(\.message)).joined(separator: "\n") }
}

extension EarlyVerdict {
    /// A definition that can't be used, with the compiler's own words as a finding.
    init(_ error: DefinitionError, tested: OID?) {
        var findings = error.findings.map {
            Finding(
                rule: $0.rule, severity: .error, message: $0.description, file: nil, line: nil, column: nil,
                suggestion: nil)
        }
        // Each error where it is, and the whole as the compiler has it.
        findings += DiagnosticScanner().findings(in: Array(error.output.utf8)).filter { $0.severity == .error }
            .prefix(20).map { finding in
                var finding = finding
                (finding.rule, finding.suggestion) = ("workflow-error", "fix it and run `pipectl validate`")
                return finding
            }
        if !error.output.isEmpty {
            findings.append(
                Finding(
                    rule: "workflow-compiler", severity: .error, message: error.output, file: nil, line: nil,
                    column: nil, suggestion: "fix it and run `pipectl validate`"))
        }
        self.init(verdict: .definitionError, reason: error.message, findings: findings, tested: tested)
    }
}
