import Foundation
import MCP
import Results

/// Tools that read the output of steps.
extension Toolbox {
    private static let step = AgentTool.Parameter(
        "step", JSONSchema.string("The step. Default: the first that failed, else the one that runs, else the last."))
    private static let attempt = AgentTool.Parameter("attempt", JSONSchema.integer(1...1_000, "Default: the last one."))

    private static let logSchema: [String: JSON] = [
        "run": ["type": "integer"], "step": ["type": "string"], "attempt": ["type": "integer"],
        "status": ["type": "string"], "lines": JSONSchema.integer(0...Int.max, "Lines of the log so far."),
        "cut": ["type": "boolean"],
    ]

    var tailLog: AgentTool {
        AgentTool(
            name: "tail_log", title: "Read the end of a log",
            summary: "The last lines of a step's log, also while it runs; `before_line` pages backwards.",
            effect: .reads,
            parameters: [
                Self.run, Self.step, Self.attempt,
                AgentTool.Parameter(
                    "lines", JSONSchema.integer(1...10_000, "The most lines to return.", standard: 100)),
                AgentTool.Parameter(
                    "before_line", JSONSchema.integer(1...Int.max, "Only lines before this one, from 1.")),
                Self.budget,
            ],
            output: JSONSchema.answer(
                Self.logSchema.merging([
                    "first_line": JSONSchema.integer(0...Int.max, "The number of the first line of the text.")
                ]) { $1 }, required: ["run", "step", "attempt", "status", "lines", "first_line", "cut"])
        ) { arguments, _ in
            let budget = try budget(arguments)
            let log = try await StepLog.read(
                try run(arguments), step: try arguments.string("step"),
                attempt: try arguments.integer("attempt", in: 1...1_000), self)
            let all = log.lines
            let end = min(all.count, max((try arguments.integer("before_line", in: 1...Int.max) ?? Int.max) - 1, 0))
            let wanted = all[..<end].suffix(try arguments.integer("lines", in: 1...10_000) ?? 100)
            // Only whole lines are taken from the end, so that the number of the first line is known.
            var left = budget.bytes - 200
            let kept = wanted.reversed().prefix { line in
                left -= line.utf8.count + 1
                return left >= 0
            }.reversed()
            let first = kept.isEmpty ? 0 : end - kept.count + 1
            let isCut = kept.count < wanted.count || first > 1
            var text = kept.joined(separator: "\n")
            if isCut { text = "… \(max(first - 1, 0)) lines before; call with before_line \(first).\n" + text }
            return ToolAnswer(
                text: text,
                structured: [
                    "run": .integer(Int(try run(arguments))), "step": .string(log.step),
                    "attempt": .integer(log.attempt), "status": .string(log.status.rawValue),
                    "lines": .integer(all.count), "first_line": .integer(first), "cut": .bool(isCut),
                ])
        }
    }

    var searchLog: AgentTool {
        AgentTool(
            name: "search_log", title: "Search a log",
            summary: """
                Lines of a step's log that match a regular expression (Swift's, which is close to PCRE), with lines \
                around them. The search has a time limit; the answer says how far it came.
                """, effect: .reads,
            parameters: [
                Self.run,
                AgentTool.Parameter("pattern", JSONSchema.string("The regular expression."), isRequired: true),
                Self.step, Self.attempt,
                AgentTool.Parameter("context", JSONSchema.integer(0...50, "Lines before and after each.", standard: 2)),
                AgentTool.Parameter("limit", JSONSchema.integer(1...1_000, "Lines that match, at most.", standard: 50)),
                AgentTool.Parameter("from_line", JSONSchema.integer(1...Int.max, "Begin there: the next page.")),
                AgentTool.Parameter(
                    "timeout_seconds", JSONSchema.number(0.1...30, "The longest that the search may take. Default: 5.")),
                Self.budget,
            ],
            output: JSONSchema.answer(
                Self.logSchema.merging([
                    "matches": ["type": "integer"],
                    "searched_lines": JSONSchema.integer(0...Int.max, "The last line that was looked at."),
                    "timed_out": ["type": "boolean"],
                    "next_line": JSONSchema.integer(1...Int.max, "Where to go on: as `from_line`."),
                ]) { $1 },
                required: [
                    "run", "step", "attempt", "status", "lines", "matches", "searched_lines", "timed_out", "cut",
                ])
        ) { arguments, _ in
            let budget = try budget(arguments)
            let log = try await StepLog.read(
                try run(arguments), step: try arguments.string("step"),
                attempt: try arguments.integer("attempt", in: 1...1_000), self)
            let search = LogSearch(
                pattern: try arguments.string("pattern", atMost: 1_000) ?? "",
                context: try arguments.integer("context", in: 0...50) ?? 2,
                limit: try arguments.integer("limit", in: 1...1_000) ?? 50,
                from: try arguments.integer("from_line", in: 1...Int.max) ?? 1, bytes: budget.bytes - 300,
                time: .seconds(try arguments.number("timeout_seconds", in: 0.1...30) ?? 5))
            let found = try await search.run(in: log.lines)
            var text = found.text.isEmpty ? "no line matches" : found.text
            if found.isTimedOut {
                text += "\n… the time ran out at line \(found.searched); a simpler pattern is quicker."
            } else if let next = found.next {
                text += "\n… there may be more; call with from_line \(next)."
            }
            var structured: [String: JSON] = [
                "run": .integer(Int(try run(arguments))), "step": .string(log.step), "attempt": .integer(log.attempt),
                "status": .string(log.status.rawValue), "lines": .integer(log.lines.count),
                "matches": .integer(found.matches), "searched_lines": .integer(found.searched),
                "timed_out": .bool(found.isTimedOut), "cut": .bool(found.next != nil),
            ]
            structured["next_line"] = found.next.map { .integer($0) }
            return ToolAnswer(text: text, structured: .object(structured))
        }
    }
}
