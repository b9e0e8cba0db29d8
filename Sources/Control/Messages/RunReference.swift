public import Results

/// What names a run: `12`, `last`, `#7` for a change, a branch, a tag, a change without a number, or a commit.
public enum RunReference: Sendable, Codable, Equatable {
    case number(RunID)
    /// The newest run that is not one of the daemon's own.
    case last
    /// The newest run of the change.
    case change(String)
    /// A branch, a tag, a change or the first digits of a commit.
    case name(String)

    /// Nil for a text that is no reference: an empty one, or one with characters that no name can have.
    public init?(_ text: String) {
        guard !text.isEmpty, !text.hasPrefix("-"),
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return nil }
        if text == "last" || text == "@" {
            self = .last
        } else if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = RunID(text) {
            self = .number(number)
        } else if text.first == "#" || text.first == "!" {
            guard text.count > 1 else { return nil }
            self = .change(String(text.dropFirst()))
        } else {
            self = .name(text)
        }
    }

    /// As it was typed.
    public var inWords: String {
        switch self {
        case .number(let id): "run \(id)"
        case .last: "last"
        case .change(let name): "#\(name)"
        case .name(let name): name
        }
    }
}

/// The question which run a reference means.
public struct RunQuestion: Sendable, Codable, Equatable {
    /// The run to find.
    public var reference: RunReference
    /// Locations of the caller's repository. If none is known, all repositories are searched.
    public var locations: [String]

    public init(_ reference: RunReference, locations: [String]) {
        self.reference = reference
        self.locations = locations
    }
}
