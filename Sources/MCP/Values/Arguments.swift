/// The arguments of a call. Each method checks the type and the range. It returns nil or nothing for an argument that
/// is not given, and throws ``ToolFailure`` for one that does not fit.
public struct Arguments: Sendable {
    private let values: [String: JSON]

    /// - Throws: ``ToolFailure``, which names the unknown or missing argument.
    init(_ json: JSON?, for tool: AgentTool) throws {
        values = (json?.object ?? [:]).filter { $0.value != .null }
        let known = Set(tool.parameters.map(\.name))
        if let unknown = values.keys.sorted().first(where: { !known.contains($0) }) {
            let names = known.sorted().joined(separator: ", ")
            throw ToolFailure(
                "\(tool.name) has no argument \"\(unknown.prefix(100))\"; it has \(names.isEmpty ? "none" : names).")
        }
        if let missing = tool.parameters.first(where: { $0.isRequired && values[$0.name] == nil }) {
            throw ToolFailure("\(tool.name) needs the argument \"\(missing.name)\".")
        }
    }

    /// A string of at most `limit` bytes of UTF-8, without NUL.
    public func string(_ name: String, atMost limit: Int = 4_096) throws -> String? {
        guard let value = values[name] else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        guard text.utf8.count <= limit, !text.utf8.contains(0) else {
            throw wrong(name, "a string of at most \(limit) bytes without NUL")
        }
        return text
    }

    /// An array of at most `count` strings; empty if it is not given.
    public func strings(_ name: String, atMost count: Int = 100) throws -> [String] {
        guard let value = values[name] else { return [] }
        guard let items = value.array, items.count <= count else {
            throw wrong(name, "an array of at most \(count) strings")
        }
        return try items.map { item in
            guard let text = item.string, text.utf8.count <= 4_096, !text.utf8.contains(0) else {
                throw wrong(name, "an array of strings")
            }
            return text
        }
    }

    /// A whole number in `range`.
    public func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let value = values[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A number in `range`.
    public func number(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let value = values[name] else { return nil }
        guard let number = value.number, range.contains(number) else {
            throw wrong(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// True or false.
    public func bool(_ name: String) throws -> Bool? {
        guard let value = values[name] else { return nil }
        guard let bool = value.bool else { throw wrong(name, "true or false") }
        return bool
    }

    /// One of the values of an enumeration.
    public func choice<Value: RawRepresentable<String> & CaseIterable>(_ name: String, _: Value.Type) throws -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw wrong(name, "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// An object of at most 100 strings; empty if it is not given.
    public func texts(_ name: String) throws -> [String: String] {
        guard let value = values[name] else { return [:] }
        guard let members = value.object, members.count <= 100 else {
            throw wrong(name, "an object of at most 100 strings")
        }
        return try members.mapValues { item in
            guard let text = item.string, text.utf8.count <= 65_536 else { throw wrong(name, "an object of strings") }
            return text
        }
    }

    private func wrong(_ name: String, _ what: String) -> ToolFailure {
        let value = values[name]?.text ?? "nothing"
        return ToolFailure("the argument \"\(name)\" takes \(what), not \(String(value.prefix(100))).")
    }
}
