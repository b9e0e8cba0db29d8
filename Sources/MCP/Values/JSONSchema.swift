/// Short ways to write JSON Schema.
public enum JSONSchema {
    public static func string(_ about: String) -> JSON { ["type": "string", "description": .string(about)] }

    public static func choice(_ values: [String], _ about: String) -> JSON {
        ["type": "string", "enum": .array(values.map { .string($0) }), "description": .string(about)]
    }

    public static func integer(_ range: ClosedRange<Int>, _ about: String, standard: Int? = nil) -> JSON {
        var members: [String: JSON] = [
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            "description": .string(about),
        ]
        members["default"] = standard.map { .integer($0) }
        return .object(members)
    }

    public static func number(_ range: ClosedRange<Double>, _ about: String) -> JSON {
        [
            "type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
            "description": .string(about),
        ]
    }

    public static func bool(_ about: String) -> JSON { ["type": "boolean", "description": .string(about)] }

    public static func strings(_ about: String) -> JSON {
        ["type": "array", "items": ["type": "string"], "description": .string(about)]
    }

    public static func texts(_ about: String) -> JSON {
        ["type": "object", "additionalProperties": ["type": "string"], "description": .string(about)]
    }

    /// An object in an answer: further keys may come with later versions.
    public static func answer(_ properties: [String: JSON], required: [String]) -> JSON {
        [
            "type": "object", "properties": .object(properties),
            "required": .array(required.map { .string($0) }),
        ]
    }
}
