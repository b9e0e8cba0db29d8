package import WorkflowPrograms
import PlanRules
import Diagnostics
import Engine
package import Git
import Pipeline
package import Results
import Store

/// A verdict that is known before any step runs.
package struct EarlyVerdict: Error, Sendable, CustomStringConvertible {
    package var verdict: Verdict
    package var reason: String
    package var conflicts: [Report.Conflict] = []
    package var findings: [Finding] = []
    package var tested: OID?
    /// The question for ``Verdict/needsApproval``, and how far the code is trusted.
    package var question: Approval?
    package var trust: Trust?

    package init(
        verdict: Verdict, reason: String, conflicts: [Report.Conflict] = [], findings: [Finding] = [],
        tested: OID? = nil, question: Approval? = nil, trust: Trust? = nil
    ) {
        self.verdict = verdict
        self.reason = reason
        self.conflicts = conflicts
        self.findings = findings
        self.tested = tested
        self.question = question
        self.trust = trust
    }

    /// The reason, followed by the messages of the compiler or of the validation.
    package var description: String { ([reason] + findings.map(\.message)).joined(separator: "\n") }
}

extension EarlyVerdict {
    /// A definition that can't be used, with the compiler's output as a finding.
    package init(_ error: DefinitionError, tested: OID?) {
        var findings = error.findings.map {
            Finding(
                rule: $0.rule, severity: .error, message: $0.description, file: nil, line: nil, column: nil,
                suggestion: nil)
        }
        // Each error at its place, in addition to the compiler's whole output.
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
