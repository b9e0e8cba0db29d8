/// A typed value that a person sets when starting a run: `pipectl run release --param version=1.2.0`.
///
/// ```swift
/// let dryRun = Parameter("dry-run", default: false, help: "Builds everything, publishes nothing.")
/// let release = Workflow("release", on: .manual, parameters: [dryRun]) { context in
///     if !context[dryRun] { Step("publish", run: "script/publish") }
/// }
/// ```
/// A command sees it as `PIPECTL_PARAM_DRY_RUN`.
public struct Parameter<Value: ParameterConvertible>: Sendable, ParameterDeclaring {
    /// The parameter as data.
    public let declaration: ParameterDeclaration

    /// A parameter with a default.
    public init(_ name: String, default value: Value, help: String = "") {
        declaration = ParameterDeclaration(
            name: name, kind: Value.kind, choices: [], defaultValue: value.text, help: help)
    }

    /// A required parameter: a run without it is refused.
    public init(_ name: String, help: String = "") {
        declaration = ParameterDeclaration(name: name, kind: Value.kind, choices: [], defaultValue: nil, help: help)
    }
}

extension Parameter where Value == String {
    /// A parameter that takes one of `choices`; without a default it is required.
    public init(_ name: String, choices: [String], default value: String? = nil, help: String = "") {
        declaration = ParameterDeclaration(
            name: name, kind: .choice, choices: choices, defaultValue: value, help: help)
    }
}

/// A parameter of any type, for the list that a workflow takes.
public protocol ParameterDeclaring: Sendable {
    /// The parameter as data.
    var declaration: ParameterDeclaration { get }
}

/// A parameter's name, type, allowed values and default.
public struct ParameterDeclaration: Sendable, Equatable, Codable {
    /// The type of a parameter's values.
    public enum Kind: String, Sendable, Codable { case string, integer, bool, choice }

    /// Unique in the workflow; letters, digits and punctuation other than `=`.
    public var name: String
    /// The type of its values.
    public var kind: Kind
    /// The allowed values of a ``Kind/choice``.
    public var choices: [String]
    /// The default as text; a parameter without one is required.
    public var defaultValue: String?
    /// The sentence that `pipectl workflows` shows.
    public var help: String

    /// The value for a run as text: `given`, or the default; or the reason why it can't be used.
    public func value(given: String?) -> Result<String, ParameterProblem> {
        guard let text = given ?? defaultValue else {
            return .failure(ParameterProblem(description: "\(name) is required: add --param \(name)=…"))
        }
        switch kind {
        case .string: return .success(text)
        case .integer:
            guard let number = Int(text) else { return .failure(refusal(of: text, wanted: "a whole number")) }
            return .success(String(number))
        case .bool:
            guard let flag = Bool(parameter: text) else { return .failure(refusal(of: text, wanted: "true or false")) }
            return .success(String(flag))
        case .choice:
            guard choices.contains(text) else {
                return .failure(refusal(of: text, wanted: "one of \(choices.joined(separator: ", "))"))
            }
            return .success(text)
        }
    }

    private func refusal(of text: String, wanted: String) -> ParameterProblem {
        ParameterProblem(description: "\(name) is \"\(text)\"; it takes \(wanted)")
    }
}

/// Why a parameter's value can't be used.
public struct ParameterProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence, with the value and what the parameter takes.
    public var description: String
}

/// A type that a ``Parameter`` can have: `String`, `Int` or `Bool`.
public protocol ParameterConvertible: Sendable {
    /// Which kind of value it is.
    static var kind: ParameterDeclaration.Kind { get }
    /// Reads the value, or returns nil if the text is not one.
    init?(parameter text: String)
    /// The value as text, which the initialiser reads again.
    var text: String { get }
}

extension String: ParameterConvertible {
    /// Text.
    public static var kind: ParameterDeclaration.Kind { .string }
    /// Accepts every text.
    public init?(parameter text: String) { self = text }
    /// The text itself.
    public var text: String { self }
}

extension Int: ParameterConvertible {
    /// A whole number.
    public static var kind: ParameterDeclaration.Kind { .integer }
    /// Nil if the text is not a whole number.
    public init?(parameter text: String) { self.init(text) }
    /// The number in decimal digits.
    public var text: String { String(self) }
}

extension Bool: ParameterConvertible {
    /// Yes or no.
    public static var kind: ParameterDeclaration.Kind { .bool }
    /// Accepts true, yes and 1, and false, no and 0, in upper or lower case. Nil for every other text.
    public init?(parameter text: String) {
        switch text.lowercased() {
        case "true", "yes", "1": self = true
        case "false", "no", "0": self = false
        default: return nil
        }
    }
    /// `true` or `false`.
    public var text: String { String(self) }
}
