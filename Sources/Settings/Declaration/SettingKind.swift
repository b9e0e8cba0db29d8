/// The type of a setting's values.
public enum SettingKind: Sendable, Equatable {
    case flag
    case whole(ClosedRange<Int>)
    /// 0 to 1.
    case share
    case duration(ClosedRange<Duration>)
    /// Bytes.
    case size(ClosedRange<Int>)
    case text
    case list
    /// Names with a whole number from 1 each.
    case counts

    /// Whether a value consists of several texts.
    var isList: Bool { self == .list || self == .counts }

    /// The type, as documentation calls it.
    public var title: String {
        switch self {
        case .flag: "true or false"
        case .whole: "number"
        case .share: "number"
        case .duration: "duration"
        case .size: "size"
        case .text: "text"
        case .list: "list of texts"
        case .counts: "object of numbers"
        }
    }

    /// The smallest and the largest value; nil where there is none.
    public var range: String? {
        switch self {
        case .whole(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .share: "0 to 1"
        case .duration(let range):
            "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        case .size(let range): "\(SizeText.text(range.lowerBound)) to \(SizeText.text(range.upperBound))"
        case .counts: "from 1"
        case .flag, .text, .list: nil
        }
    }

    /// A value as it would be written in a file, for error messages.
    var example: String {
        switch self {
        case .flag: "true or false"
        case .whole(let range): "a number like \(max(range.lowerBound, min(4, range.upperBound)))"
        case .share: "a number like 0.1"
        case .duration: "a text like \"90s\", \"15m\" or \"24h\""
        case .size: "a text like \"64MiB\" or \"10GiB\""
        case .text: "a text in quotes"
        case .list: "a list of texts like [\"one\", \"two\"]"
        case .counts: "an object of numbers like {\"simulator\": 2}"
        }
    }
}
