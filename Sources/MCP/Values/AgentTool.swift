/// A tool that a model may call.
public struct AgentTool: Sendable {
    /// The tool's effect, as a hint for hosts that ask the user before a call.
    public enum Effect: Sendable {
        case reads
        /// It adds something and changes nothing else.
        case adds
        /// It ends or replaces something.
        case changes
    }

    /// The name in calls, such as `pipectl_status`.
    public var name: String
    /// The name for people.
    public var title: String
    /// Tells the model what the tool is for, when to use it, and what it returns.
    public var summary: String
    public var effect: Effect
    /// The arguments, as the properties of a JSON Schema object.
    public var parameters: [Parameter]
    /// The JSON Schema of the structured answer.
    public var output: JSON
    /// Runs the tool. A ``ToolFailure`` that it throws is shown to the model.
    public var call: @Sendable (Arguments, Call) async throws -> ToolAnswer

    public init(
        name: String, title: String, summary: String, effect: Effect, parameters: [Parameter], output: JSON,
        call: @escaping @Sendable (Arguments, Call) async throws -> ToolAnswer
    ) {
        self.name = name
        self.title = title
        self.summary = summary
        self.effect = effect
        self.parameters = parameters
        self.output = output
        self.call = call
    }

    /// An argument of a tool.
    public struct Parameter: Sendable {
        public var name: String
        /// The JSON Schema of the argument's value.
        public var schema: JSON
        /// Whether a call without the argument is refused.
        public var isRequired: Bool

        public init(_ name: String, _ schema: JSON, isRequired: Bool = false) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    func listing(_ revision: Revision) -> JSON {
        var properties: [String: JSON] = [:]
        for parameter in parameters { properties[parameter.name] = parameter.schema }
        var members: [String: JSON] = [
            "name": .string(name), "title": .string(title), "description": .string(summary),
            "inputSchema": [
                "type": "object", "properties": .object(properties),
                "required": .array(parameters.filter(\.isRequired).map { .string($0.name) }),
                "additionalProperties": false,
            ],
            "annotations": [
                "title": .string(title), "readOnlyHint": .bool(effect == .reads),
                "destructiveHint": .bool(effect == .changes), "openWorldHint": false,
            ],
        ]
        if revision.hasStructuredContent { members["outputSchema"] = output }
        return .object(members)
    }
}

/// The answer of a tool.
public struct ToolAnswer: Sendable {
    /// The answer as text.
    public var text: String
    /// The answer as JSON, which fits the tool's output schema.
    public var structured: JSON
    /// Whether the answer says that the call failed.
    public var isError = false

    public init(text: String, structured: JSON) {
        self.text = text
        self.structured = structured
    }

    /// The answer with one more member.
    public func adding(_ key: String, _ value: JSON) -> ToolAnswer {
        guard case .object(var members) = structured else { return self }
        let wasText = text == structured.text
        members[key] = value
        var answer = self
        answer.structured = .object(members)
        if wasText { answer.text = answer.structured.text }
        return answer
    }

    /// An answer whose text is its structured form.
    public init(_ structured: JSON) {
        self.init(text: structured.text, structured: structured)
    }
}

/// Why a tool can't do what it was asked for. The model reads it and may try again.
public struct ToolFailure: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do next.
    public var description: String
    public init(_ description: String) { self.description = description }
}
