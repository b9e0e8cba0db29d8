/// Functions that assert for tests, by name: what is moved into a helper is not lost.
final class HelperIndex {
    private var bodies: [String: [BodyShape]] = [:]
    /// What a name comes to, by the number of calls that led to it: each is added up once.
    private var known: [Place: Promise] = [:]

    private struct Place: Hashable {
        var name: String
        var depth: Int
    }

    static let depthLimit = 5
    /// Assertions of one test, all told.
    static let limit = 100_000

    init(_ files: [SwiftFile] = []) { for file in files { add(file.facts) } }

    func add(_ facts: SwiftFileFacts) {
        known = [:]
        for helper in facts.helpers { bodies[helper.name, default: []].append(helper.body) }
    }

    /// What a body asserts, with what the helpers assert that it calls.
    func promise(of body: BodyShape) -> Promise { promise(of: body, depth: 0) }

    private func promise(of body: BodyShape, depth: Int) -> Promise {
        var promise = Promise()
        for assertion in body.assertions where !assertion.isAlternative {
            promise.add(assertion.strength, times: assertion.times, isConditional: assertion.isConditional)
        }
        for call in body.calls {
            if depth < Self.depthLimit, let inner = helper(call.name, depth: depth + 1), inner.total > 0 {
                promise.add(inner, times: call.times, isConditional: call.isConditional)
            } else if Assertion.isAsserting(call.name) {
                // Nobody knows here what it asserts; its name says that it is more than a condition.
                promise.add(.value, times: call.times, isConditional: call.isConditional)
            }
        }
        return promise
    }

    /// Of several functions with one name the strictest is taken: which is meant takes a type checker.
    private func helper(_ name: String, depth: Int) -> Promise? {
        guard let bodies = bodies[name] else { return nil }
        let place = Place(name: name, depth: depth)
        if let promise = known[place] { return promise }
        // One that calls itself adds nothing to itself.
        known[place] = Promise()
        let most = bodies.prefix(8).map { promise(of: $0, depth: depth) }.max { $0.total < $1.total } ?? Promise()
        known[place] = most
        return most
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
