public import Results

/// A plan as parts with a heading each.
public enum PlanWords {
    /// A part of a plan: a text, or a list.
    public struct Part: Sendable, Equatable {
        public var title: String
        public var text: String
        public var items: [String]
    }

    /// The parts of a plan that have something in them, after its summary.
    public static func parts(_ plan: TaskPlan) -> [Part] {
        [
            Part(title: "Approach", text: plan.approach, items: []),
            Part(title: "Files", text: "", items: plan.files),
            Part(title: "Tests", text: "", items: plan.tests),
            Part(title: "Trade-offs", text: plan.tradeoffs, items: []),
        ].filter { !$0.text.isEmpty || !$0.items.isEmpty }
    }

    /// The plan as lines of Markdown.
    public static func lines(_ plan: TaskPlan) -> [String] {
        var lines = plan.summary.foreignLines
        for part in parts(plan) {
            lines += ["", "## \(part.title)", ""]
            if !part.text.isEmpty { lines += part.text.foreignLines }
            lines += part.items.map { "- \($0)" }
        }
        return lines
    }
}

extension String {
    /// The lines of foreign text. A carriage return before a line feed stays: to Swift, both are one character.
    public var foreignLines: [String] {
        unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }
}
