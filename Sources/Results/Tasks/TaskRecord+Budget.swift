internal import Pipeline

extension TaskRecord {
    /// Why no agent may work on the task any more; nil if one may.
    package var budgetExcess: String? {
        if let most = rules.tokens, let tokens = spent.tokens, tokens >= most {
            return "the budget of task \(id) is used up: \(tokens) of \(most) tokens"
        }
        if let most = rules.cost, let cost = spent.cost, cost >= most {
            return "the budget of task \(id) is used up: \(Self.dollars(cost)) of \(Self.dollars(most))"
        }
        return nil
    }

    private static func dollars(_ amount: Double) -> String {
        let cents = Int((max(0, min(amount, 1e12)) * 100).rounded())
        return "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100) US dollars"
    }
}
