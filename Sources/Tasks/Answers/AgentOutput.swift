import Foundation
import ForeignText
package import Results

/// What an agent's standard output says besides its text: its last words, and what it used.
///
/// Agents print JSON in forms of their own: one object at the end, or one on each line. Text between them is skipped. An
/// agent that prints plain text has neither words nor figures here.
package struct AgentOutput: Sendable, Equatable {
    /// The last message; nil: the output is no such JSON.
    package private(set) var words: String?
    /// Input and output together. Nil: it is not told.
    package private(set) var tokens: Int?
    /// US dollars. Nil: it is not told.
    package private(set) var cost: Double?
    /// Whether the agent itself says that it failed.
    package private(set) var isFailure = false

    /// The most bytes that are read, from the end: the last event has the sums.
    package static let bytes = 8 << 20
    private static let valueBytes = 256 << 10
    /// A figure above this is no figure.
    private static let mostTokens = 1_000_000_000_000
    private static let mostCost = 1_000_000.0

    /// Words that come in pieces.
    private var pieces = ""

    /// - Parameter output: Standard output, or its end.
    package init(_ output: some BidirectionalCollection<UInt8>) {
        var lines = output.suffix(Self.bytes)[...]
        if lines.count < output.count, let end = lines.firstIndex(of: UInt8(ascii: "\n")) { lines = lines[end...] }
        for object in JSONObjects.beginningLines(of: Array(lines), valueBytes: Self.valueBytes) { read(object) }
        if words == nil, !pieces.isEmpty { words = pieces }
    }

    /// What it used, where it told something; wall-clock time is not among it.
    package var spent: TaskSpending? {
        guard tokens != nil || cost != nil else { return nil }
        var spent = TaskSpending()
        (spent.tokens, spent.cost) = (tokens, cost)
        return spent
    }

    /// The figures of the file `$PIPECTL_TASK_USAGE`: `{"tokens": 1200, "cost": 0.04}`; nil: it has none.
    package static func usage(of file: some BidirectionalCollection<UInt8>) -> TaskSpending? {
        guard file.count <= valueBytes,
            let object = JSONObjects.beginningLines(of: Array(file), valueBytes: valueBytes).first
        else { return nil }
        var output = AgentOutput([])
        output.add(tokens: object["tokens"]?.int)
        output.add(cost: object["cost"]?.number)
        return output.spent
    }

    private mutating func read(_ event: JSONValue) {
        switch event["type"]?.text {
        // Claude Code, Cursor, Qwen Code: the sums of the session. Gemini CLI has statistics in it.
        case "result":
            if let result = event["result"]?.text { words = result }
            isFailure = event["is_error"]?.isTrue == true || event["status"]?.text == "error"
            set(tokens: event["usage"].flatMap(Self.tokens) ?? event["stats"]?["total_tokens"]?.int)
            set(cost: event["total_cost_usd"]?.number)
        // Codex: each turn has figures of its own.
        case "item.completed":
            if event["item"]?["type"]?.text == "agent_message", let text = event["item"]?["text"]?.text { words = text }
        case "turn.completed": add(tokens: event["usage"].flatMap(Self.tokens))
        case "turn.failed": isFailure = true
        // OpenCode: each step has figures of its own.
        case "text": if let text = event["part"]?["text"]?.text { words = text }
        case "step_finish":
            add(cost: event["part"]?["cost"]?.number)
            let tokens = event["part"]?["tokens"]
            let figures = [
                tokens?["input"], tokens?["output"], tokens?["reasoning"], tokens?["cache"]?["read"],
                tokens?["cache"]?["write"],
            ]
            add(tokens: Self.sum(figures))
        // Gemini CLI, whose words come in pieces; a tool's use begins a new message.
        case "message":
            guard event["role"]?.text == "assistant", let text = event["content"]?.text else { return }
            pieces = event["delta"]?.isTrue == true ? String((pieces + text).suffix(Self.valueBytes)) : text
        case "tool_use": pieces = ""
        case "error": isFailure = isFailure || event["severity"]?.text == "error"
        case nil: readGemini(event)
        default: break
        }
    }

    /// Gemini CLI's one object.
    private mutating func readGemini(_ event: JSONValue) {
        guard event["response"] != nil || event["stats"] != nil || event["error"] != nil else { return }
        if let response = event["response"]?.text { words = response }
        if event["error"] != nil { isFailure = true }
        guard case .object(let models) = event["stats"]?["models"] else { return }
        set(tokens: Self.sum(models.values.map { $0["tokens"]?["total"] }))
    }

    /// All tokens that a model read or wrote, from its cache, too.
    private static func tokens(_ usage: JSONValue) -> Int? {
        let isCodex = usage["cached_input_tokens"] != nil
        // Codex counts cached tokens as input already.
        return sum(
            [usage["input_tokens"], usage["output_tokens"]]
                + (isCodex ? [] : [usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]]))
    }

    /// Nil if none of the values is a number.
    private static func sum(_ values: [JSONValue?]) -> Int? {
        let figures = values.compactMap { $0?.int }.filter { (0...mostTokens).contains($0) }
        return figures.isEmpty ? nil : figures.prefix(1_000).reduce(0, +)
    }

    private mutating func set(tokens figure: Int?) {
        if let figure, (0...Self.mostTokens).contains(figure) { tokens = figure }
    }

    private mutating func add(tokens figure: Int?) {
        guard let figure, (0...Self.mostTokens).contains(figure) else { return }
        tokens = min((tokens ?? 0) + figure, Self.mostTokens)
    }

    private mutating func set(cost figure: Double?) {
        if let figure, (0...Self.mostCost).contains(figure) { cost = figure }
    }

    private mutating func add(cost figure: Double?) {
        guard let figure, (0...Self.mostCost).contains(figure) else { return }
        cost = min((cost ?? 0) + figure, Self.mostCost)
    }
}
