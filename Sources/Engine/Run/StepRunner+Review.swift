import Results
import ReviewAnswers
import Foundation
import Pipeline
import SystemPackage

/// Turns a reviewer's answer into the outcome of its step.
extension StepRunner {
    /// The outcome of a review of a head that was reviewed before; nil if there is something new to review.
    func knownReview(_ step: PlannedStep) -> StepOutcome? {
        guard let plan = step.review, let input = setting.reviews[step.name], input.isKnown else { return nil }
        var outcome = StepOutcome(
            record: StepRecord(
                name: step.name, command: step.commandLine, needs: step.needs, allowsFailure: step.allowsFailure))
        let record = ReviewRecord(head: input.head, since: input.since, findings: input.earlier)
        outcome.record.review = record
        (outcome.record.status, outcome.record.reason) = Self.judge(record, plan)
        outcome.findings = Self.findings(record, plan)
        return outcome
    }

    /// Reads the reviewer's answer. An answer that is not valid is an infrastructure failure.
    func judgeReview(_ plan: ReviewPlan, of order: StepAttempt, into attempt: inout Attempt) {
        func broken(_ why: String) {
            attempt.record.status = .infrastructure
            attempt.record.reason = "there is no review: \(why)"
        }
        guard attempt.record.status != .cancelled else { return }
        let input =
            setting.reviews[order.step.name] ?? ReviewInput(head: "", since: nil, earlier: [], isKnown: false)
        let copy = setting.temporaryFile(in: setting.folder)
        defer { try? FileManager.default.removeItem(atPath: copy.string) }
        var limits = setting.fileLimits
        limits.fileBytes = ReviewPlan.answerBytes + 1
        do {
            let source = place.files(.published(label: order.label), of: order.step)
            _ = try WorkspaceFiles(source: source, limits: limits).copy(
                "review.json", to: copy, masker: setting.secrets.masker)
            let answer = FileManager.default.contents(atPath: copy.string) ?? Data()
            if answer.count > ReviewPlan.answerBytes {
                return broken("its answer is longer than \(ReviewPlan.answerBytes >> 10) KiB")
            }
            guard attempt.record.status == .passed else {
                return broken("the reviewer failed: \(attempt.record.reason ?? "unknown reason")")
            }
            let record = try ReviewAnswer.read(answer).record(
                after: ReviewRecord(head: input.head, since: input.since, findings: input.earlier),
                maximum: plan.maximum)
            attempt.review = record
            (attempt.record.status, attempt.record.reason) = Self.judge(record, plan)
            attempt.findings += Self.findings(record, plan)
        } catch {
            broken(
                attempt.record.status == .passed
                    ? "\(error)" : "the reviewer failed: \(attempt.record.reason ?? "unknown reason")")
        }
    }

    private static func judge(_ record: ReviewRecord, _ plan: ReviewPlan) -> (StepStatus, String?) {
        let open = record.open(at: plan.gate)
        guard let gate = plan.gate, let first = open.first else { return (.passed, nil) }
        let place = first.file.map { " in \($0)" } ?? ""
        return (
            .failed,
            "\(open.count) open finding\(open.count == 1 ? "" : "s") of severity \(gate.rawValue) or more; the first\(place): "
                + String(first.message.prefix(200))
        )
    }

    private static func findings(_ record: ReviewRecord, _ plan: ReviewPlan) -> [Finding] {
        var findings = record.findings.filter { $0.fate == .open }.map { one in
            let severity: Finding.Severity =
                switch one.severity {
                case .error: .error
                case .warning: .warning
                case .note: .note
                }
            return Finding(
                rule: "review/\(one.rule)", severity: severity,
                message: one.message
                    + (one.head == record.head ? "" : " (found at \(one.head.prefix(10)), still open)"),
                file: one.file, line: one.line, column: nil, suggestion: one.suggestion)
        }
        func note(_ text: String) {
            findings.append(
                Finding(
                    rule: "review", severity: .note, message: text, file: nil, line: nil, column: nil, suggestion: nil))
        }
        let subject = record.since.map { "the part since \($0.prefix(10))" } ?? "the whole change"
        if findings.isEmpty { note("no findings: \(subject) was reviewed, up to \(record.head.prefix(10))") }
        if record.leftOut > 0 {
            note("\(record.leftOut) more findings were dropped: the workflow accepts \(plan.maximum) per review")
        }
        return findings
    }
}
