import Diagnostics
import Pipeline
import Reports
import Results

/// Renders the findings of reviews of a change. The reviewer's text may quote the change, so it is escaped for
/// Markdown.
enum ReviewRenderer {
    /// Maximum number of remarks for one change.
    static let mostRemarks = 200

    /// The findings of the newest runs of a change; nil if none of their steps is a review.
    static func review(_ change: Int, head: String, runs: [ForgeRunFacts]) -> ReviewState? {
        var remarks: [ReviewState.Remark] = []
        var seen: Set<String> = []
        var isReviewed = false
        for facts in runs {
            for step in facts.document?.report.steps ?? [] {
                guard let review = step.review else { continue }
                isReviewed = true
                for finding in review.findings.suffix(mostRemarks) where seen.insert(finding.fingerprint).inserted {
                    remarks.append(remark(finding, head: head, facts.delta))
                }
            }
        }
        return isReviewed ? ReviewState(change: change, commit: head, remarks: remarks) : nil
    }

    private static func remark(_ finding: ReviewFinding, head: String, _ delta: ChangeDelta?) -> ReviewState.Remark {
        let place = place(finding, head: head, delta)
        let last = place?.line
        let first = finding.line.flatMap { line in
            finding.endLine == nil ? nil : finding.file.flatMap { delta?.headLine($0, tested: line) }
        }
        var text = "**\(finding.severity.rawValue)** "
        if place == nil, let file = finding.file {
            text += MarkdownText.code(finding.line.map { "\(file):\($0)" } ?? file) + " "
        }
        text += MarkdownText.inline(finding.message, limit: 2_000)
        if let suggestion = finding.suggestion { text += "\n\n→ \(MarkdownText.inline(suggestion, limit: 1_000))" }
        text += "\n\n\(MarkdownText.code("review/\(finding.rule)"))"
        return ReviewState.Remark(
            fingerprint: finding.fingerprint, place: place,
            linesBefore: first.flatMap { first in last.map { max($0 - first, 0) } } ?? 0, text: text,
            replacement: place == nil ? nil : finding.replacement, isSettled: finding.fate != .open)
    }

    /// The position of the finding's last line, if the change shows it. Lines of an earlier head may have moved since.
    private static func place(_ finding: ReviewFinding, head: String, _ delta: ChangeDelta?) -> ChangeDelta.Place? {
        guard finding.head == head, let delta, let path = CheckRenderer.usable(finding.file), let line = finding.line
        else { return nil }
        guard let end = finding.endLine, end > line else { return delta.place(path, tested: line) }
        // The change must show all lines, and they must be consecutive in the head as in the tested tree.
        let places = (line...min(end, line + 100)).map { delta.place(path, tested: $0) }
        guard let first = places.first.flatMap({ $0 }), end - line <= 100 else { return nil }
        for (offset, place) in places.enumerated() where place?.line != first.line + offset { return nil }
        return places.last.flatMap { $0 }
    }

    /// Whether a comment on the change already contains the finding.
    static func isSaid(_ finding: Finding, in report: Report, _ delta: ChangeDelta?) -> Bool {
        guard finding.rule.hasPrefix("review/"), finding.file != nil, let change = report.change,
            Int(change.name) != nil
        else { return false }
        return report.steps.contains { step in
            step.review?.findings.contains { one in
                "review/\(one.rule)" == finding.rule && one.file == finding.file && one.line == finding.line
                    && one.fate == .open && place(one, head: report.head, delta) != nil
            } ?? false
        }
    }
}
