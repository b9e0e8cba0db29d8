/// The value of a setting.
public enum SettingValue: Sendable, Equatable {
    case flag(Bool)
    case whole(Int)
    /// A part of a whole: 0 to 1.
    case share(Double)
    case duration(Duration)
    /// Bytes.
    case size(Int)
    case text(String)
    case list([String])
    /// Names with a whole number each.
    case counts([String: Int])

    /// The value as it is written on a command line, and in a file without its quotes.
    public var text: String {
        switch self {
        case .flag(let value): value ? "true" : "false"
        case .whole(let value): "\(value)"
        case .share(let value): "\(value)"
        case .duration(let value): DurationText.text(value)
        case .size(let value): SizeText.text(value)
        case .text(let value): value
        case .list(let values): values.joined(separator: ", ")
        case .counts(let values): values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ", ")
        }
    }

    /// The single texts of a list, and `name=count` for each count; anything else is one text.
    public var texts: [String] {
        switch self {
        case .list(let values): values
        case .counts(let values): values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        default: [text]
        }
    }
}

extension SettingValue: Codable {
    /// Writes the value as in a file: a flag and a number as such, a duration and a size as texts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .flag(let value): try container.encode(value)
        case .whole(let value): try container.encode(value)
        case .share(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .counts(let values): try container.encode(values)
        case .duration, .size, .text: try container.encode(text)
        }
    }

    /// Reads a duration or a size as a text: only the table knows the setting's type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .whole(value)
        } else if let value = try? container.decode(Double.self) {
            self = .share(value)
        } else if let values = try? container.decode([String].self) {
            self = .list(values)
        } else if let values = try? container.decode([String: Int].self) {
            self = .counts(values)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}
