import Results
import Pipeline

/// A report for a forge's check or an agent, of limited size.
///
/// It consists of blocks, each with versions from short to full. In the order of rank, every block gets its shortest
/// version as long as there is space; then longer versions follow in the same order. The end says how many blocks are
/// missing.
struct MarkdownReport {
    let document: ReportDocument
    let options: RenderOptions
    private let facts: ReportFacts

    init(document: ReportDocument, options: RenderOptions) {
        self.document = document
        self.options = options
        facts = ReportFacts(document)
    }

    private var report: Report { document.report }

    private struct Block {
        /// Blocks with lower ranks are kept longer.
        var rank: Int
        /// What is counted if the block is omitted: `failing test`.
        var kind: String
        /// From short to full.
        var versions: [String]
    }

    func render() -> String {
        var blocks = head() + failingTests() + failedSteps() + conflicts()
        blocks += findings() + comparison() + steps() + artifacts()
        let end = ending()
        // Space for the note about what is omitted.
        var room = options.markdownLimit - end.utf8.count - 400
        var chosen = [Int?](repeating: nil, count: blocks.count)
        let order = blocks.indices.sorted { (blocks[$0].rank, $0) < (blocks[$1].rank, $1) }
        for index in order where blocks[index].versions[0].utf8.count <= room {
            chosen[index] = 0
            room -= blocks[index].versions[0].utf8.count
        }
        for index in order {
            guard let now = chosen[index] else { continue }
            let versions = blocks[index].versions
            for better in stride(from: versions.count - 1, to: now, by: -1) {
                let cost = versions[better].utf8.count - versions[now].utf8.count
                if cost <= room {
                    chosen[index] = better
                    room -= cost
                    break
                }
            }
        }
        var output = ""
        var missing: [(kind: String, count: Int)] = []
        var shortened = 0
        for (block, version) in zip(blocks, chosen) {
            if let version {
                output += block.versions[version]
                if version < block.versions.count - 1 { shortened += 1 }
            } else if let place = missing.firstIndex(where: { $0.kind == block.kind }) {
                missing[place].count += 1
            } else {
                missing.append((block.kind, 1))
            }
        }
        if !missing.isEmpty || shortened > 0 {
            var parts = missing.map { Figures.count($0.count, $0.kind) }
            if shortened > 0 { parts.append("details of \(Figures.grouped(shortened)) more") }
            let everything = "Everything: `pipectl report \(report.id) --format html`"
            output += "\n_Omitted for length: \(parts.joined(separator: ", ")). \(everything)_\n"
        }
        return output + end
    }

    // MARK: Blocks

    private func head() -> [Block] {
        let title = report.verdict.title
        var text = "## \(Wording.symbol(report.verdict)) \(title.prefix(1).uppercased())\(title.dropFirst()): "
        text += "\(MarkdownText.code(report.workflow)) run \(report.id)\n\n"
        text += "\(MarkdownText.inline(report.reason, limit: 600))\n\n"
        if let change = report.change {
            text += "- change \(MarkdownText.code(change.name)): \(MarkdownText.code(change.title)) "
            text += "by \(MarkdownText.code(change.author, limit: 100))\(change.isDraft ? ", a draft" : "")\n"
            let labels = ReportFacts.labels(change).map { MarkdownText.code($0, limit: 100) }
            if !labels.isEmpty { text += "- labels: \(labels.joined(separator: ", "))\n" }
            text += "- head `\(commit(change.head))`, target \(MarkdownText.code(change.target)) "
            text += "at `\(commit(change.targetCommit))`"
            text +=
                report.testedCommit.map { ", tested `\(commit($0))`: \(ReportFacts.whatIsTested(report))\n" }
                ?? ", not merged\n"
        } else {
            let tested = commit(report.testedCommit ?? report.head)
            text += "- \(MarkdownText.code(ReportFacts.ref(report))) at `\(tested)`\n"
        }
        if let trust = report.trust { text += "- trust: \(trust.rawValue)\n" }
        if let base = facts.base { text += "- workspace: \(MarkdownText.inline(base, limit: 600))\n" }
        for approval in facts.approvals { text += "- \(MarkdownText.inline(approval, limit: 600))\n" }
        let start = report.startedAt ?? report.createdAt
        text += "- \(Figures.dateAndTime(start)), took \(Figures.duration(from: start, to: report.endedAt))\n"
        if report.testCounts.total > 0 { text += "- \(Wording.counts(report.testCounts))\n" }
        if let fix = report.fix { text += "- \(fix.role.inWords)\n" }
        if let series = report.fixes {
            text += "- fix \(series.state.title): \(MarkdownText.inline(series.reason, limit: 600))\n"
            if series.chosen != nil, series.state != .pushed { text += "- `\(FixWords.command(report.id))`\n" }
        }
        return [Block(rank: 0, kind: "head", versions: [text])]
    }

    private func failingTests() -> [Block] {
        guard !facts.failing.isEmpty else { return [] }
        let heading = "\n### \(Figures.count(facts.failing.count, "failing test"))\n\n"
        return [Block(rank: 0, kind: "heading", versions: [heading])]
            + facts.failing.enumerated().map { index, test in
                let result = test.result
                var line = "- ✗ \(MarkdownText.code(result.id))"
                if let file = result.file {
                    line += " at \(MarkdownText.code(file + (result.line.map { ":\($0)" } ?? "")))"
                }
                switch test.standing {
                case .newlyFailing: line += " (new in this change)"
                case .alsoOnTarget: line += " (also fails on the target)"
                case .unknown: break
                }
                if test.tries > 1 { line += " (\(test.tries) tries)" }
                line += "\n"
                var versions = [line]
                if let message = result.message {
                    versions.append(line + indented(MarkdownText.block(message.utf8, lines: 8, bytes: 1_000)))
                }
                if let details = result.details, details != result.message {
                    let message = result.message.map { MarkdownText.block($0.utf8, lines: 20, bytes: 3_000) } ?? ""
                    versions.append(
                        line + indented(message) + indented(MarkdownText.block(details.utf8, lines: 30, bytes: 4_000)))
                }
                return Block(rank: 10 + min(index / 20, 9), kind: "failing test", versions: versions)
            }
    }

    private func failedSteps() -> [Block] {
        facts.failedSteps.enumerated().map { index, step in
            var line = "\n### Step \(MarkdownText.code(step.name)) \(Wording.title(step.status))"
            if step.allowsFailure { line += " (may fail)" }
            line += "\n\n"
            if let reason = step.reason { line += MarkdownText.inline(reason) + "\n\n" }
            line += "Command: \(MarkdownText.code(step.command, limit: 400))\n"
            var versions = [line]
            if index < 10, let file = step.attempts.last?.log?.file, let log = document.logs(file) {
                for lines in [10, options.logTailLines] where lines > 0 && lines <= options.logTailLines {
                    let tail = LogExcerpt.tail(of: log.bytes, lines: lines)
                    let block = MarkdownText.block(tail, lines: lines, bytes: lines * 120, fromEnd: true)
                    if !block.isEmpty { versions.append(line + "\nLast lines:\n\n" + block) }
                }
            }
            // The tail of a log is more important than the hundredth failing test, and less than the first twenty.
            return Block(rank: 10 + min(index, 9), kind: "failed step", versions: versions)
        }
    }

    private func conflicts() -> [Block] {
        guard !report.conflicts.isEmpty else { return [] }
        let heading = "\n### \(Figures.count(report.conflicts.count, "conflicting file"))\n\n"
        return [Block(rank: 0, kind: "heading", versions: [heading])]
            + report.conflicts.map { conflict in
                let line = "- \(MarkdownText.code(conflict.path)) (\(MarkdownText.inline(conflict.kind)))\n"
                return Block(rank: 11, kind: "conflicting file", versions: [line])
            }
    }

    private func findings() -> [Block] {
        guard !report.findings.isEmpty else { return [] }
        let heading = "\n### \(Figures.count(report.findings.count, "finding"))\n\n"
        return [Block(rank: 1, kind: "heading", versions: [heading])]
            + report.findings.map { finding in
                let first = finding.message.split(separator: "\n").first.map(String.init) ?? ""
                var line = "- **\(finding.severity.rawValue)** "
                if let place = ReportFacts.place(of: finding) { line += MarkdownText.code(place) + " " }
                line += MarkdownText.inline(first)
                let suggestion = finding.suggestion.map { "  \n  → \(MarkdownText.inline($0))" } ?? ""
                var versions = [line + suggestion + "\n"]
                if finding.message.utf8.contains(UInt8(ascii: "\n")) {
                    let block = MarkdownText.block(finding.message.utf8, lines: 60, bytes: 6_000)
                    versions.append(line + suggestion + "\n" + indented(block))
                }
                return Block(rank: finding.severity == .error ? 11 : 30, kind: "finding", versions: versions)
            }
    }

    private func comparison() -> [Block] {
        facts.differences.flatMap { difference in
            let against = report.comparison.map { "compared with run \($0.against) of the target" } ?? ""
            let heading = "\n### \(Figures.count(difference.lines.count, difference.kind)) \(against)\n\n"
            return [Block(rank: 1, kind: "heading", versions: [heading])]
                + difference.lines.map {
                    Block(rank: 20, kind: difference.kind, versions: ["- \(MarkdownText.code($0))\n"])
                }
        }
    }

    private func steps() -> [Block] {
        guard !report.steps.isEmpty else { return [] }
        func table(_ steps: [StepRecord]) -> String {
            var text = "\n### \(Figures.count(report.steps.count, "step"))\n\n"
            guard !steps.isEmpty else { return text }
            text += "| Step | State | Time | Attempts |\n| --- | --- | --- | --- |\n"
            for step in steps {
                let state = "\(Wording.symbol(step.status)) \(Wording.title(step.status))"
                let time = Wording.proof(step) ?? step.duration.map(Figures.duration) ?? ""
                text += "| \(MarkdownText.cell(step.name)) | \(state) | \(time) | \(step.attempts.count) |\n"
            }
            return text
        }
        let unusual = report.steps.filter { $0.status != .passed }
        var versions = [table([])]
        if unusual.count < report.steps.count && !unusual.isEmpty { versions.append(table(unusual)) }
        versions.append(table(report.steps))
        return [Block(rank: 25, kind: "table of steps", versions: versions)]
    }

    private func artifacts() -> [Block] {
        guard !report.artifacts.isEmpty else { return [] }
        let heading = "\n### \(Figures.count(report.artifacts.count, "artifact"))\n\n"
        return [Block(rank: 31, kind: "heading", versions: [heading])]
            + report.artifacts.map { artifact in
                let size = Figures.size(artifact.bytes)
                let line = "- \(MarkdownText.code(artifact.path)), \(size), sha256 "
                return Block(rank: 32, kind: "artifact", versions: [line + MarkdownText.code(artifact.sha256) + "\n"])
            }
    }

    /// The part that is never omitted.
    private func ending() -> String {
        var text = "\nReproduce: \(MarkdownText.code(report.reproduce, limit: 1_000))\n"
        if let command = facts.nextCommand {
            text += "\n\(facts.advice): \(MarkdownText.code(command, limit: 1_000))\n"
        }
        return text
    }

    /// A commit id, or an empty text if it is not hexadecimal.
    private func commit(_ id: String) -> String {
        id.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) } ? Wording.short(id) : "?"
    }

    /// A block that belongs to a list item.
    private func indented(_ block: String) -> String {
        block.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
    }
}
