public import Results
internal import Foundation
internal import Git
internal import Pipeline

extension Report {
    /// A summary of one screen for `git log --notes=pipectl`: verdict, reason, failures, and how to repeat the run.
    ///
    /// Text from the change is cut to one line each, without control characters.
    public var summaryNote: String {
        var lines = ["\(workflow): \(verdict.title) (run \(id))", reason]
        lines.append("tests: \(testCounts.passed) passed, \(testCounts.failed) failed, \(testCounts.skipped) skipped")
        if let change {
            lines.append("change \(change.name) into \(change.target) at \(change.targetCommit.prefix(10))")
        }
        if let testedCommit, testedCommit != head { lines.append("tested as merge \(testedCommit.prefix(10))") }
        for step in steps where step.status.isFailure || step.status == .cancelled {
            lines.append("step \(step.name): \(step.status.rawValue)" + (step.reason.map { ", \($0)" } ?? ""))
        }
        lines += Self.list("new failure", comparison?.newlyFailing ?? [])
        lines += Self.list("fails on \(branch ?? "the target") too", comparison?.alsoFailing ?? [])
        lines += Self.list("conflict", conflicts.map { "\($0.path) (\($0.kind))" })
        lines.append("ended \(endedAt.iso8601) on \(box.host)")
        lines.append("repeat: \(reproduce)")
        return lines.map(Self.oneLine).joined(separator: "\n") + "\n"
    }

    /// Writes the summary to `refs/notes/pipectl` of the watched repository, as a note about the pushed commit.
    ///
    /// The summaries of other workflows in the note are kept. Returns false, and writes nothing, if the repository does
    /// not have the commit, as for a run of a working tree. Only one of our processes may write notes at a time.
    public func mirror(into repository: String, ref: String = "refs/notes/pipectl") async throws -> Bool {
        let (summary, workflow, head, endedAt) = (summaryNote, workflow, head, endedAt)
        return try await withRepository(at: repository) { repository in
            guard let commit = OID(hex: head), repository.contains(commit) else { return false }
            let known = try repository.note(for: commit, ref: ref) ?? ""
            let author = Signature(name: "pipectl", email: "pipectl@localhost", time: endedAt)
            try repository.setNote(
                Self.note(known, replacing: workflow, with: summary), for: commit, ref: ref, author: author)
            return true
        }
    }

    /// A note with one paragraph for each workflow. The paragraph of `workflow` is `summary`.
    static func note(_ known: String, replacing workflow: String, with summary: String) -> String {
        let others = known.components(separatedBy: "\n\n").map { $0.trimmingCharacters(in: .newlines) }
            .filter { !$0.isEmpty && !$0.hasPrefix("\(oneLine(workflow)): ") }
        return ([summary.trimmingCharacters(in: .newlines)] + others).joined(separator: "\n\n") + "\n"
    }

    private static func list(_ title: String, _ items: [String]) -> [String] {
        let shown = items.prefix(8).map { "\(title): \($0)" }
        return items.count > shown.count ? shown + ["\(title): \(items.count - shown.count) more"] : shown
    }

    private static func oneLine(_ text: String) -> String {
        let plain = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: Character(" ")
            default: Character(scalar)
            }
        }
        return plain.count > 160 ? String(plain.prefix(159)) + "…" : String(plain)
    }
}
