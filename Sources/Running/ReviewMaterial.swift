import Watching
import Preparing
import Evaluating
import Archive
import Concurrency
import Results
import Store
import Engine
import Foundation
import Git
import Logging
import Pipeline
import Sandbox
import SystemPackage
import TerminalText

/// The input of steps that review a change: the difference, the rules, and findings of earlier reviews.
struct ReviewMaterial: Sendable {
    let index: Store.Index
    let reports: any ReportSource

    /// The most bytes of the difference, and of the rules together, that a reviewer gets.
    private static let diffBytes = 512 << 10
    private static let ruleBytes = 128 << 10
    /// The number of runs of the change among which the last review is searched.
    private static let lookBack = 30

    /// Writes the input of the plan's reviewers to their folders; returns it by step.
    ///
    /// - Parameter brief: What they are told of what was asked for, with marks of its own.
    func write(
        _ prepared: RunPreparation, _ run: QueuedRun, in repository: WatchedRepository, folder: String, brief: String
    ) async throws -> [String: ReviewInput] {
        var inputs: [String: ReviewInput] = [:]
        for step in prepared.plan.steps {
            guard let plan = step.review else { continue }
            let last = await lastReview(step.name, of: run)
            let request = run.request
            let room = ReviewRoom(FilePath("\(folder)/reviews/\(inputs.count)"))
            let (input, prompt) = try await withRepository(at: repository.store) { store in
                var (input, prompt) = try Self.material(plan, prepared, request, last, brief, in: store)
                guard !input.isKnown else { return (input, prompt) }
                try FileManager.default.createDirectory(
                    atPath: room.folder.string, withIntermediateDirectories: true)
                try store.checkout(prepared.tested, into: room.workspace.string)
                input.room = room
                return (input, prompt)
            }
            inputs[step.name] = input
            let data = try JSONEncoder().encode(input.earlier)
            try await offThread {
                let values = LocalPlace.values(in: folder)
                try FileManager.default.createDirectory(atPath: values, withIntermediateDirectories: true)
                try SmallFile.write(
                    prompt.utf8, to: "\(values)/\(ReviewInput.promptName(step.name))", isForAll: true)
                try SmallFile.write(data, to: "\(values)/\(ReviewInput.dataName(step.name))", isForAll: true)
            }
        }
        return inputs
    }

    /// The record of the newest review of the same change.
    private func lastReview(_ step: String, of run: QueuedRun) async -> ReviewRecord? {
        guard let change = run.request.change else { return nil }
        let filter = RunFilter(
            repository: run.request.repository, workflow: run.request.workflow, change: change.name, states: [.ended],
            before: run.id, limit: Self.lookBack)
        for summary in (try? await index.runs(filter)) ?? [] where summary.isArchived {
            // Commits of a fixer that nobody has applied are not reviewed, and tries of a task by its own reviewer.
            if summary.fix != nil || (summary.task != nil) != (run.request.task != nil) { continue }
            let report = try? await reports.report(summary.id)
            if let record = report?.steps.first(where: { $0.name == step })?.review { return record }
        }
        return nil
    }

    private static func material(
        _ plan: ReviewPlan, _ prepared: RunPreparation, _ request: RunRequest, _ last: ReviewRecord?, _ brief: String,
        in store: Repository
    ) throws -> (ReviewInput, String) {
        let tested = prepared.tested
        let base =
            request.change.flatMap { OID(hex: $0.targetCommit) } ?? request.previous.flatMap(OID.init(hex:))
        var since: OID?
        if let last, let seen = OID(hex: last.head), let head = OID(hex: request.head), store.contains(seen),
            try store.isAncestor(seen, of: head)
        {
            since = seen
        }
        let input = ReviewInput(
            head: request.head, since: since?.hex, earlier: last?.findings ?? [], isKnown: last?.head == request.head)
        if input.isKnown { return (input, "") }
        // After a rebase it is unknown what is new, so the whole change is reviewed; earlier findings are not repeated.
        let diff: String
        if let since, let head = OID(hex: request.head) {
            diff = try store.patch(from: since, to: head, maximumBytes: diffBytes)
        } else if let base, store.contains(base) {
            diff = try store.patch(from: base, to: tested, maximumBytes: diffBytes)
        } else {
            diff = try store.patch(from: store.commit(tested).parents.first, to: tested, maximumBytes: diffBytes)
        }
        var rules = ""
        // The target's rules, like the definition: a change can't rewrite the rules that judge it.
        let source = OID(hex: prepared.definition.commit) ?? tested
        for path in plan.rules {
            guard let entry = try store.entry(path, at: source), [.blob, .executable].contains(entry.kind) else {
                rules += "\n(\(path) does not exist)\n"
                continue
            }
            guard let bytes = try store.smallFile(path, at: source, atMost: 1 << 20) else {
                rules += "\n(\(path) is too large to be read)\n"
                continue
            }
            let text = String(decoding: bytes.prefix(max(ruleBytes - rules.utf8.count, 0)), as: UTF8.self)
            rules += "\n### \(path)\n\n\(text)\n"
        }
        return (input, prompt(plan, request, input, rules: rules, diff: diff, brief: brief))
    }

    private static func prompt(
        _ plan: ReviewPlan, _ request: RunRequest, _ input: ReviewInput, rules: String, diff: String, brief: String
    ) -> String {
        let mark = DataMark()
        let earlier = input.earlier.filter { $0.fate != .withdrawn }.map { one in
            let place = (one.file ?? "") + (one.line.map { ":\($0)" } ?? "")
            return "- \(one.fingerprint) \(one.fate.rawValue) \(one.severity.rawValue) \(place) \(one.message)"
        }
        return """
            # Review a change

            Answer with one JSON object only, without text around it and without a code fence:

            {"findings": [{"severity": "error" | "warning" | "note", "rule": "short-name", "message": "what is wrong and \
            why it matters", "file": "path", "line": 12, "suggestion": "what to do", "endLine": 13, \
            "replacement": "only if you are sure: the exact new text of the lines from line to endLine"}],
             "earlier": [{"fingerprint": "…", "fate": "open" | "fixed" | "withdrawn"}]}

            At most \(plan.maximum) findings, the most severe first. Without any: {"findings": []}. Do not repeat an earlier \
            finding; report its fate in "earlier": "fixed" if this difference fixes it, "withdrawn" if it was wrong.
            \(input.since == nil ? "This is the whole change." : "You have seen the change up to \(input.since ?? ""): this is what is new since.")
            The workspace holds the files as they would be once merged.

            \(mark.meaning)

            ## Rules
            \(rules.isEmpty ? "\nNone beyond good sense.\n" : rules)
            \(brief)
            ## The change

            \(mark.around(request.change.map { "change \($0.name) into \($0.target), by \($0.author): \($0.title)" } ?? request.ref))
            ## Earlier findings

            \(mark.around(earlier.isEmpty ? "none" : earlier.joined(separator: "\n")))
            ## The difference

            \(mark.around(diff))
            """
    }
}
