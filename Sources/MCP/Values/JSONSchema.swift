/// Short notations for JSON Schema. `about` is the description that the model reads.
public enum JSONSchema {
    /// A string.
    public static func string(_ about: String) -> JSON { ["type": "string", "description": .string(about)] }

    /// One of several strings.
    public static func choice(_ values: [String], _ about: String) -> JSON {
        ["type": "string", "enum": .array(values.map { .string($0) }), "description": .string(about)]
    }

    /// A whole number in a range, with a default.
    public static func integer(_ range: ClosedRange<Int>, _ about: String, standard: Int? = nil) -> JSON {
        var members: [String: JSON] = [
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            "description": .string(about),
        ]
        members["default"] = standard.map { .integer($0) }
        return .object(members)
    }

    /// A number in a range.
    public static func number(_ range: ClosedRange<Double>, _ about: String) -> JSON {
        [
            "type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
            "description": .string(about),
        ]
    }

    /// True or false.
    public static func bool(_ about: String) -> JSON { ["type": "boolean", "description": .string(about)] }

    /// An array of strings.
    public static func strings(_ about: String) -> JSON {
        ["type": "array", "items": ["type": "string"], "description": .string(about)]
    }

    /// An object whose values are strings.
    public static func texts(_ about: String) -> JSON {
        ["type": "object", "additionalProperties": ["type": "string"], "description": .string(about)]
    }

    /// An object in an answer. Later versions may add keys.
    public static func answer(_ properties: [String: JSON], required: [String]) -> JSON {
        [
            "type": "object", "properties": .object(properties),
            "required": .array(required.map { .string($0) }),
        ]
    }
}
