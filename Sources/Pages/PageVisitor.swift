import Foundation
import PageMarkup

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
