import DaemonLog
import Git
import Logging
import Pipeline
import Preparing
import Results
import Tasks
import TerminalText
import Watching
import WorkflowPrograms

/// Holds the lines that a change adds against the rules of the target's definition. A run that passed fails if one is
/// broken, or if that can't be told.
struct RuleContributor: ReportContributor {
    let log: Logger

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        guard let rules = run.prepared.program.description.rules, !rules.isEmpty,
            let target = draft.report.change.flatMap({ OID(hex: $0.targetCommit) }),
            // It runs tests without the change that they belong to.
            ![.reproducing, .comparing].contains(run.request.task?.part)
        else { return }
        let findings: [Finding]
        do {
            let (tested, definition) = (run.prepared.tested, OID(hex: run.prepared.definition.commit) ?? target)
            findings = try await withRepository(at: run.repository.store) { store in
                try Self.findings(rules, from: target, to: tested, says: definition, in: store)
            }
        } catch {
            log.warning(
                "run \(draft.report.id): the rules of the repository could not be checked: \(error)",
                metadata: .code(.evaluationFailed, run: draft.report.id))
            guard draft.report.verdict.isPass else { return }
            draft.report.verdict = .infrastructure
            draft.report.reason = "the change can't be read, so pipectl can't tell whether it breaks a rule: \(error)"
            return
        }
        draft.report.findings += findings
        guard let first = findings.first, draft.report.verdict.isPass else { return }
        let place = first.file.map { " at \(TerminalText.name($0))\(first.line.map { ":\($0)" } ?? "")" } ?? ""
        let more = findings.count > 1 ? ", and \(findings.count - 1) more" : ""
        draft.report.verdict = .failed
        draft.report.reason = "\(first.message)\(place)\(more)"
    }

    private static func findings(
        _ rules: [Rule], from target: OID, to tested: OID, says definition: OID, in store: Repository
    ) throws -> [Finding] {
        let check = try RuleCheck(rules) { path in
            try AgentFiles.text(of: path, at: definition, in: store)
        }
        var reading = RuleCheck.Reading()
        try store.addedLines(
            from: target, to: tested, in: check.reads, isWhole: { check.isStricter(for: $1, than: $0) }
        ) { file in
            if file.isTooLarge { reading.skip(file.path) }
            for line in file.lines {
                check.read(AddedLine(file: file.path, line: line.number, text: line.text), &reading)
            }
            return !reading.isOver
        }
        return check.findings(of: reading)
    }
}

extension Verdict {
    fileprivate var isPass: Bool { self == .passed || self == .flaky }
}
