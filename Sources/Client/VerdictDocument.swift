package import Control
import Foundation
import Reports
package import Results
import TerminalText

/// The output of a wait: the verdict, the runs that count, and the bundle of the run that decided it.
package struct VerdictDocument {
    package let access: StateAccess
    package let outcome: VerdictClient.Outcome
    package let subject: String
    /// Maximum size of the bundle in bytes.
    package let bytes: Int

    /// - Parameters:
    ///   - access: The state with the runs.
    ///   - outcome: How the wait ended.
    ///   - subject: What was waited for, in words.
    ///   - bytes: Maximum size of the bundle in bytes.
    package init(_ access: StateAccess, outcome: VerdictClient.Outcome, subject: String, bytes: Int) {
        (self.access, self.outcome, self.subject, self.bytes) = (access, outcome, subject, bytes)
    }

    package var exitCode: Int32 {
        switch outcome {
        case .concluded(let state): state.conclusion?.verdict.exitCode ?? 3
        case .pending: 8
        }
    }

    private var known: WaitState? {
        switch outcome {
        case .concluded(let state): state
        case .pending(let state, _): state
        }
    }

    package func markdown() async throws -> String {
        guard case .concluded(let end) = outcome, let conclusion = end.conclusion else { return pendingText() }
        // The verdict counts even without a report: a run may end before it starts.
        let reason = DataMark.document(escaped(conclusion.reason))
        var text = "# \(conclusion.verdict.title): \(escaped(end.subject))\n\n\(reason)"
        if let bundle = await bundle(of: conclusion, .markdown) {
            // The bundle of a live run would state that first, and the result of the wait must not be overlooked.
            text = conclusion.isEarly ? "**failed**\n\n\(reason)\n\(bundle)" : bundle
        }
        let others = end.runs.filter { $0.id != conclusion.run }
        if !others.isEmpty {
            text += "\nOther runs of \(escaped(end.subject)):\n\n"
            for run in others.prefix(50) {
                text += "- run \(run.id) \(escaped(run.workflow)): \(escaped(run.inWords(at: Date())))\n"
            }
        }
        if let next = conclusion.next { text += "\nStart one by hand: \(MarkdownText.code(next))\n" }
        if let page = end.runs.first(where: { $0.id == conclusion.run })?.page { text += "\nPage: <\(page)>\n" }
        if conclusion.verdict == .needsApproval { text += "\nThis needs a person's approval. \(reason)" }
        for note in end.notes { text += "\nNote: \(escaped(note))\n" }
        return text
    }

    /// The result without the bundle.
    package var answer: VerdictAnswer {
        var answer = VerdictAnswer(known, subject: subject, exitCode: exitCode)
        if case .pending(_, let why?) = outcome { answer.reason = why }
        return answer
    }

    package func json() async throws -> String {
        var bundle: JSONText?
        if case .concluded(let end) = outcome, let conclusion = end.conclusion {
            bundle = await self.bundle(of: conclusion, .json).map(JSONText.init)
        }
        let head = try JSONOutput.text(answer)
        guard let bundle else { return head + "\n" }
        return try bundle.inserted(into: head, as: "bundle") + "\n"
    }

    private func bundle(of conclusion: WaitConclusion, _ format: BundleFormat) async -> String? {
        guard let run = conclusion.run else { return nil }
        return try? await BundleSource(access, run: run).text(format, bytes: bytes)
    }

    private func pendingText() -> String {
        var text = "# still pending: \(escaped(known?.subject ?? subject))\n\n"
        if case .pending(_, let why?) = outcome { text += "\(escaped(why))\n\n" }
        guard let known else { return text }
        for line in known.lines(at: Date(), countsDown: true) { text += "- \(escaped(line))\n" }
        for run in known.runs.prefix(20) { if let page = run.page { text += "- <\(page)>\n" } }
        return text
    }

    /// The text as it is, or as code if Markdown would interpret it. Backslashes would be visible to an agent.
    private func escaped(_ text: String) -> String { MarkdownText.inline(text, limit: 1_000) }
}

/// The result of a wait for programs.
package struct VerdictAnswer: Encodable {
    /// `passed`, `failed` …, or `pending`.
    package var verdict: String
    package var exitCode: Int32
    package var reason: String
    package var subject: String
    package var commit: String?
    /// The number of the run that decided.
    package var run: RunID?
    /// Whether that run is still live.
    package var isEarly: Bool
    package var runs: [WaitedRun]
    package var notes: [String]
    /// The command to type next, if nothing runs for the subject.
    package var next: String?
    package var notice: String = DataMark.notice

    package init(_ state: WaitState?, subject: String, exitCode: Int32) {
        let conclusion = state?.conclusion
        verdict = conclusion?.verdict.rawValue ?? "pending"
        self.exitCode = exitCode
        reason = conclusion?.reason ?? state?.unseen ?? "there is no verdict yet"
        self.subject = state?.subject ?? subject
        commit = state?.commit
        run = conclusion?.run
        isEarly = conclusion?.isEarly ?? false
        runs = Array((state?.runs ?? []).prefix(50))
        next = conclusion?.next
        notes = Array((state?.notes ?? []).suffix(20))
    }
}

/// JSON that was encoded elsewhere and is inserted into an object unchanged.
package struct JSONText {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// - Parameter object: Output of ``JSONOutput``, which ends with a brace on a line of its own.
    package func inserted(into object: String, as key: String) throws -> String {
        guard object.hasSuffix("\n}") else { return object }
        let lines = text.trimmingCharacters(in: .whitespacesAndNewlines).split(
            separator: "\n", omittingEmptySubsequences: false)
        return object.dropLast(2) + ",\n  \"\(key)\" : " + lines.joined(separator: "\n  ") + "\n}"
    }
}
