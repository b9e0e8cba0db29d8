import MCP

/// What an agent printed: its last words, and what it says that it used.
///
/// Agents print text, one JSON object, or a JSON object on each line. Known forms are read; anything else is text.
package struct AgentOutput: Sendable, Equatable {
    /// The agent's last words. Untrusted.
    package var text: String
    package var usage: AgentUsage

    /// The longest output that is read, in bytes; of a longer one, its end counts.
    package static let bytes = 8 << 20
    /// Lines with JSON that are read, the last ones.
    private static let lines = 20_000

    package init(_ output: [UInt8]) {
        self.init(text: String(decoding: output, as: UTF8.self), usage: AgentUsage())
        if let whole = Self.object(output[...]) {
            var reading = Reading()
            reading.take(whole)
            self = reading.result(ofText: text)
            return
        }
        var reading = Reading()
        for line in output.split(separator: UInt8(ascii: "\n")).suffix(Self.lines) {
            if let object = Self.object(line) { reading.take(object) }
        }
        self = reading.result(ofText: text)
    }

    private init(text: String, usage: AgentUsage) {
        self.text = text
        self.usage = usage
    }

    private static func object(_ bytes: ArraySlice<UInt8>) -> JSON? {
        guard let first = bytes.first(where: { !" \t\r\n".utf8.contains($0) }), first == UInt8(ascii: "{"),
            let value = try? JSON(parsing: bytes), value.object != nil
        else { return nil }
        return value
    }

    /// Adds up what the objects of an output say.
    private struct Reading {
        var text: String?
        /// What the last object says of everything; nil if none does.
        var total: AgentUsage?
        /// The sum of what objects say of themselves.
        var sum = AgentUsage()

        func result(ofText whole: String) -> AgentOutput { AgentOutput(text: text ?? whole, usage: total ?? sum) }

        mutating func take(_ object: JSON) {
            switch object["type"]?.string {
            case "result":
                // Claude Code, and agents that print the same: cumulative, at the end.
                text = object["result"]?.string ?? text
                let usage = AgentUsage(
                    tokens: Self.sum(
                        object["usage"],
                        [
                            "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
                        ]), cost: AgentUsage.amount(object["total_cost_usd"]))
                if usage != AgentUsage() { total = usage }
            case "turn.completed":
                // Codex: for each turn. Cached tokens are among those of the input.
                sum.add(AgentUsage(tokens: Self.sum(object["usage"], ["input_tokens", "output_tokens"])))
            case "item.completed" where object["item"]?["type"]?.string == "agent_message":
                text = object["item"]?["text"]?.string ?? text
            case "step_finish":
                // OpenCode: for each step.
                let part = object["part"]
                var used = Self.sum(part?["tokens"], ["input", "output", "reasoning"])
                if let cached = Self.sum(part?["tokens"]?["cache"], ["read", "write"]) { used = (used ?? 0) + cached }
                sum.add(AgentUsage(tokens: used, cost: AgentUsage.amount(part?["cost"])))
            case "text":
                text = object["part"]?["text"]?.string ?? text
            default:
                // Gemini CLI: one object.
                guard let models = object["stats"]?["models"]?.object else { return }
                text = object["response"]?.string ?? text
                let counts = models.values.compactMap { AgentUsage.count($0["tokens"]?["total"]) }
                if !counts.isEmpty { total = AgentUsage(tokens: counts.reduce(0, +)) }
            }
        }

        private static func sum(_ object: JSON?, _ keys: [String]) -> Int? {
            let counts = keys.compactMap { AgentUsage.count(object?[$0]) }
            return counts.isEmpty ? nil : counts.reduce(0, +)
        }
    }
}

/// What an agent says that it used.
package struct AgentUsage: Sendable, Equatable {
    /// Of input and output together.
    package var tokens: Int?
    /// US dollars.
    package var cost: Double?

    package init(tokens: Int? = nil, cost: Double? = nil) {
        self.tokens = tokens
        self.cost = cost
    }

    /// The longest file `$PIPECTL_TASK_USAGE`, in bytes.
    package static let fileBytes = 4 << 10

    /// The content of `$PIPECTL_TASK_USAGE`: `{"tokens": 1200, "cost": 0.03}`; nil for anything else.
    package init?(file: [UInt8]) {
        guard file.count <= Self.fileBytes, let object = try? JSON(parsing: file) else { return nil }
        self.init(tokens: Self.count(object["tokens"]), cost: Self.amount(object["cost"]))
        if self == AgentUsage() { return nil }
    }

    package mutating func add(_ other: AgentUsage) {
        if let more = other.tokens { tokens = min((tokens ?? 0) + more, Self.most) }
        if let more = other.cost { cost = min((cost ?? 0) + more, Double(Self.most)) }
    }

    /// No agent uses more. Numbers are the agent's: they must not overflow a sum.
    private static let most = 1_000_000_000_000

    static func count(_ value: JSON?) -> Int? { value?.integer.map { min(max(0, $0), most) } }

    static func amount(_ value: JSON?) -> Double? {
        guard let number = value?.number, number.isFinite else { return nil }
        return min(max(0, number), Double(most))
    }
}
