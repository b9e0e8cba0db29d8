import Foundation

/// What somebody may do at the pages.
enum AccessLevel: Int, Comparable, Sendable {
    case none, read, operate

    static func < (one: AccessLevel, other: AccessLevel) -> Bool { one.rawValue < other.rawValue }
}

/// Who a request comes from, as far as is known.
struct Visitor: Sendable {
    /// How they are known.
    enum Means: Sendable, Equatable {
        case nothing
        /// A cookie; its digest.
        case session(Data)
        /// A token that a program sends.
        case token
        /// A proxy that they logged in to.
        case proxy
    }

    var level: AccessLevel
    /// Who acts, in words; nil for somebody who is not known.
    var name: String?
    var means = Means.nothing
    /// What forms of this visitor contain: other sites can't know it. Nil where no browser asks, or nobody is known.
    var formToken: String?

    static let nobody = Visitor(level: .none)

    /// Which form of a page they get.
    var reader: PageReader {
        if level == .operate, formToken != nil { return .operator }
        return name == nil ? .stranger : .known
    }
}

/// For whom a page is made. Those of one kind see the same page, so that a live one is made once for all of them.
enum PageReader: Int, Sendable {
    /// Somebody who has not logged in.
    case stranger
    /// Somebody who has, and may read only, or acts by the API.
    case known
    /// Somebody who may act with forms.
    case `operator`
}

/// What stands in forms for the token of whoever gets the page. Nobody can know it, so no foreign text contains it.
enum FormMark {
    static let text = "form-" + Secrecy.random()

    /// The bytes with `token` instead of each mark.
    static func replaced(in bytes: [UInt8], by token: String) -> [UInt8] {
        let mark = Array(text.utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let place = rest.firstRange(of: mark) {
            result += rest[..<place.lowerBound]
            result += token.utf8
            rest = rest[place.upperBound...]
        }
        return result.isEmpty ? bytes : result + rest
    }
}
