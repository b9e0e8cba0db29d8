/// A value of a JSON text, with its line.
struct JSONNode: Sendable, Equatable {
    indirect enum Kind: Sendable, Equatable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        /// As it is written.
        case number(String)
        case flag(Bool)
        case null
    }

    /// A name in an object, with its value. A name that occurs twice gives two members.
    struct Member: Sendable, Equatable {
        var name: String
        var line: Int
        var value: JSONNode
    }

    var kind: Kind
    /// From 1.
    var line: Int

    /// What it is, for messages.
    var title: String {
        switch kind {
        case .object: "an object"
        case .array: "a list"
        case .string(let text): "the text \"\(text.shortened(to: 40))\""
        case .number(let text): "the number \(text.shortened(to: 40))"
        case .flag(let value): "\(value)"
        case .null: "null"
        }
    }
}

/// Why a text is not JSON.
struct JSONMistake: Error, Sendable, Equatable {
    /// From 1.
    var line: Int
    /// A sentence.
    var description: String
}
