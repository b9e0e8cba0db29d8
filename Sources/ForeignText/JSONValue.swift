/// A JSON value that was read as a whole.
package enum JSONValue {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    /// The member of an object; nil for other values and other keys.
    package subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The text of a string that is not empty; nil for other values.
    package var text: String? { if case .string(let text) = self, !text.isEmpty { text } else { nil } }

    /// A number; nil for other values.
    package var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// A number as the nearest integer; nil for other values, and if it does not fit.
    package var int: Int? { number.flatMap { Int(exactly: $0.rounded()) } }

    /// Whether it is `true`.
    package var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// The elements of an array; empty for other values.
    package var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// A string, number or boolean in its original spelling.
    package var shown: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
        case .bool(let bool): "\(bool)"
        case .null, .object, .array: nil
        }
    }
}

/// Walks through JSON values token by token, and knows the current path.
///
/// The path of a value consists of the keys above it: `results.tests[].name`. The outermost value's path is empty.
package struct JSONWalk {
    /// One step of the walk.
    package enum Step {
        /// A value begins. Unless it is taken or skipped, the members of an object or array follow.
        case value(path: String, JSONToken)
        /// An object or array ends.
        case leave(path: String)
        case finished
        case broken(String)
    }

    /// The tokens that it reads.
    package private(set) var tokens: JSONTokenizer
    private var open: [(path: String, isArray: Bool)] = []
    private var key = ""

    /// What ``take(_:)`` keeps of one value.
    private static let nodeLimit = 50_000
    private static let byteLimit = 8 << 20

    package init(_ tokens: JSONTokenizer) { self.tokens = tokens }

    /// Skips text between two documents, up to the next object, or the next list of objects.
    package mutating func skip(toList: Bool) { if toList { tokens.skipToList() } else { tokens.skipToObject() } }

    /// Goes to the next value, or to the end of an object or array.
    package mutating func next() -> Step {
        while true {
            let token = tokens.next()
            switch token {
            case .key(let name): key = name
            case .beginObject, .beginArray:
                let path = path
                var isArray = false
                if case .beginArray = token { isArray = true }
                open.append((path, isArray))
                return .value(path: path, token)
            case .endObject, .endArray: return .leave(path: open.popLast()?.path ?? "")
            case .string, .number, .bool, .null: return .value(path: path, token)
            case .finished: return .finished
            case .broken(let what): return .broken(what)
            }
        }
    }

    private var path: String {
        guard let last = open.last else { return "" }
        // No format asks for a longer path, and a key may have 64 KiB.
        if last.isArray { return last.path + "[]" }
        return last.path.isEmpty ? String(key.prefix(100)) : last.path + "." + key.prefix(100)
    }

    /// The whole value that began with `token`; of a huge one, as much as fits. Nil if the text ends within it.
    package mutating func take(_ token: JSONToken) -> JSONValue? {
        var budget = (nodes: Self.nodeLimit, bytes: Self.byteLimit)
        defer { closeTaken(token) }
        return value(token, &budget)
    }

    /// Skips the value that began with `token`. Returns false if the text ends within it.
    package mutating func skip(_ token: JSONToken) -> Bool {
        var budget = (nodes: 0, bytes: 0)
        defer { closeTaken(token) }
        return value(token, &budget) != nil
    }

    private mutating func closeTaken(_ token: JSONToken) {
        switch token {
        case .beginObject, .beginArray: open.removeLast()
        default: break
        }
    }

    private mutating func value(_ token: JSONToken, _ budget: inout (nodes: Int, bytes: Int)) -> JSONValue? {
        switch token {
        case .string(let text):
            budget.bytes -= text.utf8.count
            return .string(text)
        case .number(let number): return .number(number)
        case .bool(let bool): return .bool(bool)
        case .null: return .null
        case .beginArray: return array(&budget)
        case .beginObject: return object(&budget)
        case .key, .endObject, .endArray, .finished, .broken: return nil
        }
    }

    private mutating func array(_ budget: inout (nodes: Int, bytes: Int)) -> JSONValue? {
        var elements: [JSONValue] = []
        while true {
            let token = tokens.next()
            if case .endArray = token { return .array(elements) }
            guard let value = value(token, &budget) else { return nil }
            budget.nodes -= 1
            if budget.nodes >= 0, budget.bytes >= 0 { elements.append(value) }
        }
    }

    private mutating func object(_ budget: inout (nodes: Int, bytes: Int)) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        while true {
            switch tokens.next() {
            case .endObject: return .object(members)
            case .key(let key):
                guard let value = value(tokens.next(), &budget) else { return nil }
                budget.nodes -= 1
                budget.bytes -= key.utf8.count
                if budget.nodes >= 0, budget.bytes >= 0 { members[key] = value }
            default: return nil
            }
        }
    }
}
