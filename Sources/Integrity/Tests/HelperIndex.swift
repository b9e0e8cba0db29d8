/// Functions that assert for tests, by name: what is moved into a helper is not lost.
struct HelperIndex: Sendable {
    private(set) var bodies: [String: [BodyShape]] = [:]

    static let depthLimit = 5
    /// Assertions of one test, all told.
    static let limit = 100_000

    mutating func add(_ file: SwiftFile) {
        for helper in file.helpers { bodies[helper.name, default: []].append(helper.body) }
    }

    /// What a body asserts, with what the helpers assert that it calls.
    func promise(of body: BodyShape, depth: Int = 0, _ seen: Set<String> = []) -> Promise {
        var promise = Promise()
        for assertion in body.assertions where !assertion.isAlternative {
            promise.add(assertion.strength, times: assertion.times, isConditional: assertion.isConditional)
        }
        for call in body.calls where !seen.contains(call.name) {
            if let known = bodies[call.name], depth < Self.depthLimit {
                // Of several functions with one name the strictest is taken: which is meant takes a type checker.
                let inner = known.prefix(8).map { self.promise(of: $0, depth: depth + 1, seen.union([call.name])) }
                if let most = inner.max(by: { $0.total < $1.total }), most.total > 0 {
                    promise.add(most, times: call.times, isConditional: call.isConditional)
                    continue
                }
            }
            if Assertion.isAsserting(call.name) {
                // Nobody knows here what it asserts; its name says that it is more than a condition.
                promise.add(.value, times: call.times, isConditional: call.isConditional)
            }
        }
        return promise
    }
}

/// The assertions of a test, counted by what they pin down.
struct Promise: Sendable, Equatable {
    private(set) var presence = 0
    private(set) var condition = 0
    private(set) var value = 0
    /// Of all, those that the test can end without.
    private(set) var conditional = 0

    var total: Int { presence + condition + value }
    var unconditional: Int { total - conditional }
    /// Those that are at least comparisons.
    var strong: Int { condition + value }

    mutating func add(_ strength: Assertion.Strength, times: Int, isConditional: Bool) {
        let times = min(times, HelperIndex.limit)
        switch strength {
        case .none: return
        case .presence: presence = min(HelperIndex.limit, presence + times)
        case .condition: condition = min(HelperIndex.limit, condition + times)
        case .value: value = min(HelperIndex.limit, value + times)
        }
        if isConditional { conditional = min(total, conditional + times) }
    }

    mutating func add(_ other: Promise, times: Int, isConditional: Bool) {
        let before = total
        add(.presence, times: other.presence * min(times, 1_000), isConditional: false)
        add(.condition, times: other.condition * min(times, 1_000), isConditional: false)
        add(.value, times: other.value * min(times, 1_000), isConditional: false)
        let added = total - before
        conditional = min(total, conditional + (isConditional ? added : other.conditional * min(times, 1_000)))
    }
}
