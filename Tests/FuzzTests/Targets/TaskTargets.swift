import Foundation
import Pipeline
import Results
import Tasks
import TestBasics
import TestSupport

/// What agents answer, and the words from which rules are made.
extension FuzzTarget {
    static let tasks: [FuzzTarget] = [
        .pure(
            "plan-answer",
            words: ["\"summary\":", "\"files\":[", "```json\n", "\n{", "\\u0000", "**", "../", "\u{202E}"],
            isJSON: true, limit: 512 << 10, corpus: planCorpus
        ) { bytes, _ in
            let plan: TaskPlan
            do throws(PlanProblem) { plan = try PlanAnswer.read(bytes, version: 7) } catch {
                return try demand(!error.description.isEmpty, "a refusal without a reason")
            }
            try demand(plan.version == 7 && !plan.files.isEmpty, "a plan without files")
            for file in plan.files {
                try demand(!file.hasPrefix("/") && !file.split(separator: "/").contains(".."), "the file \(file)")
                try demand(
                    !file.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a control character")
            }
        },
        .pure(
            "agent-output", words: ["{\"type\":\"result\",", "\n", "\"usage\":{", "1e400", "-1", "\"result\":\""],
            isJSON: true,
            corpus: outputCorpus
        ) { bytes, _ in
            let output = AgentOutput(bytes)
            try demand((0...1_000_000_000_000).contains(output.tokens ?? 0), "\(output.tokens ?? 0) tokens")
            try demand((0...1_000_000).contains(output.cost ?? 0), "cost \(output.cost ?? 0)")
            try demand((output.words?.utf8.count ?? 0) <= 4 << 20, "long words")
        },
        .pure(
            "line-pattern", words: ["(a|b)*", "[^", "\\b", "{1,9}", "(?i)", "\n", "a", "(?:", "))"], limit: 64 << 10,
            corpus: {
                Corpus.texts(
                    "URLSession|import Network\nlet s = URLSession.shared",
                    "^\\s*(let|var) \\w+ = try!\n  let a = try! b()",
                    "(?i)todo\\b[^:]\n// TODO later", "(a+)+$\naaaaaaaaaaaaaaaaaaaa!", "[a-c\\]x-]{2,3}\nab]x-c")
            }, check: checkPattern),
        .pure(
            "rule-proposal", words: ["## Rules\n", "- ", "`", "` in `", "Don't use ", "\r\n", "```\n", "# "],
            limit: 64 << 10,
            corpus: {
                Corpus.texts(
                    "Don't use `URLSession` in `Views/`\n# A\n\n## Rules\n\n- one\n\n## Other\n",
                    "Keep it small, please\n",
                    "Never call `try!` in `Sources/*.swift`\n# A\r\n\r\n## Rules\r\n")
            }, check: checkProposal),
    ]

    @Sendable private static func planCorpus() -> [[UInt8]] {
        let plan =
            #"{"summary": "S", "approach": "A\nB", "files": ["Sources/A.swift", "Tests/**"], "tests": ["t"], "tradeoffs": ""}"#
        return Corpus.texts(
            plan, "```json\n\(plan)\n```", "words\n\(plan)\nwords",
            #"{"type":"result","result":"{\"summary\":\"S\",\"approach\":\"A\",\"files\":[\"a\"]}"}"#)
    }

    @Sendable private static func outputCorpus() -> [[UInt8]] {
        Corpus.texts(
            #"{"type":"result","is_error":false,"result":"Done.","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":2}}"#,
            #"{"response": "Done.", "stats": {"models": {"a": {"tokens": {"total": 7}}}}}"#,
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"cached_input_tokens\":1}}",
            "{\"type\":\"step_finish\",\"part\":{\"cost\":0.5,\"tokens\":{\"input\":1,\"cache\":{\"read\":4}}}}\ntext\n{\"type\":\"text\",\"part\":{\"text\":\"x\"}}"
        )
    }

    /// The first line is a pattern, the others are what it searches.
    @Sendable private static func checkPattern(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let lines = String(decoding: bytes, as: UTF8.self).unicodeScalars.split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { String($0) }
        let pattern: LinePattern
        do throws(LinePatternProblem) { pattern = try LinePattern(lines.first ?? "") } catch {
            return try demand(!error.description.isEmpty, "a refusal without a reason")
        }
        for line in lines.dropFirst().prefix(200) {
            var work = 2_000_000
            let found = pattern.matches(line, work: &work)
            try demand(work > -20_000, "the limit of work was passed by \(-work)")
            // What is found in a line is found in a part of a longer one, unless it is bound to a place.
            guard found, work >= 0, !(lines.first ?? "").contains(where: { "^$\\[(".contains($0) }) else { continue }
            var more = 2_000_000
            try demand(pattern.matches("x" + line + "x", work: &more) || more < 0, "a longer line has no match")
        }
    }

    /// The first line is a remark, the rest is the file.
    @Sendable private static func checkProposal(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
        let remark = String(text.prefix { $0 != "\n" })
        let content = String(text.drop { $0 != "\n" }.dropFirst())
        guard let proposal = RuleProposal.make(from: [.remark(remark)], in: content) else { return }
        try demand(proposal.rules.count == 1, "\(proposal.rules.count) rules of one remark")
        for line in proposal.rules + proposal.declarations {
            try demand(
                !line.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a control character")
        }
        let removed = proposal.patch.unicodeScalars.split(separator: "\n").filter {
            $0.first == "-" && !$0.starts(with: "---".unicodeScalars)
        }
        // The last line of a file without a line feed is the only one that is written anew.
        try demand(removed.count <= 1, "the patch removes \(removed.count) lines")
    }
}
