/// Functions with assertions that tests call, by name. An assertion that moved into a helper is not lost.
final class HelperIndex {
    private var bodies: [String: [BodyShape]] = [:]
    /// The assertions of each name, by the depth of the call, so that each is computed once.
    private var known: [Place: Promise] = [:]

    private struct Place: Hashable {
        var name: String
        var depth: Int
    }

    static let depthLimit = 5
    /// The most assertions that are counted for one test.
    static let limit = 100_000

    init(_ files: [SwiftFile] = []) { for file in files { add(file.facts) } }

    func add(_ facts: SwiftFileFacts) {
        known = [:]
        for helper in facts.helpers { bodies[helper.name, default: []].append(helper.body) }
    }

    /// What a body asserts, including the helpers that it calls.
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
                // The helper's source is unknown. Its name suggests that it asserts, so it counts as an exact value.
                promise.add(.value, times: call.times, isConditional: call.isConditional)
            }
        }
        return promise
    }

    /// Takes the strictest of several functions with one name: only a type checker could tell which is meant.
    private func helper(_ name: String, depth: Int) -> Promise? {
        guard let bodies = bodies[name] else { return nil }
        let place = Place(name: name, depth: depth)
        if let promise = known[place] { return promise }
        // A recursive call adds nothing.
        known[place] = Promise()
        let most = bodies.prefix(8).map { promise(of: $0, depth: depth) }.max { $0.total < $1.total } ?? Promise()
        known[place] = most
        return most
    }
}

/// The assertions of a test, counted by strength.
struct Promise: Sendable, Equatable {
    private(set) var presence = 0
    private(set) var condition = 0
    private(set) var value = 0
    /// The number of all assertions that the test can end without.
    private(set) var conditional = 0

    var total: Int { presence + condition + value }
    var unconditional: Int { total - conditional }
    /// The number of assertions that at least compare something.
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
