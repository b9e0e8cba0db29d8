public import Foundation

/// An order to a forge: merge this change, if its head is still the one that was tested.
public struct ForgeMerge: Sendable, Equatable {
    /// How the change's commits reach the target.
    public enum Method: String, Sendable, Codable, CaseIterable {
        /// With a merge commit.
        case merge
        /// As one commit.
        case squash
        /// One by one. GitLab has no such order: there the project's own merge method decides.
        case rebase
    }

    /// The change's number at the forge.
    public var change: Int
    /// The head that was tested, as 40 or 64 hexadecimal digits. The forge refuses any other.
    public var head: String
    public var method: Method
    /// The first line of the commit that the forge makes; nil for the forge's own words. A rebase makes none.
    public var title: String?
    /// What follows the first line.
    public var message: String?

    public init(change: Int, head: String, method: Method, title: String? = nil, message: String? = nil) {
        self.change = change
        self.head = head
        self.method = method
        self.title = title
        self.message = message
    }
}

/// A change that the forge has merged.
public struct ForgeMerged: Sendable, Equatable {
    /// The commit that the forge made or moved its target to; compare its tree with the tested one.
    public var commit: String
}

/// Why a forge did not merge a change, or why that is not known.
public struct ForgeMergeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. More may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The change's head is not the tested one any more.
        public static let headMoved = Code(rawValue: "head-moved")
        /// The change conflicts with its target, is a draft, or is closed.
        public static let notMergeable = Code(rawValue: "not-mergeable")
        /// The credential, or a rule of the target, does not allow it.
        public static let notAllowed = Code(rawValue: "not-allowed")
        /// Nothing was merged for now: the forge is down or its limit is reached. The same order may be given again.
        public static let notNow = Code(rawValue: "not-now")
        /// The order may have taken effect, and the forge can't be asked. The same order may be given again: it finds out.
        public static let unknownEnd = Code(rawValue: "unknown-end")
        /// The repository is connected with no forge, or its credential is missing.
        public static let notConnected = Code(rawValue: "not-connected")
    }

    public var code: Code
    /// One sentence without secrets. It may quote the forge.
    public var description: String
    /// The earliest time for another try; nil where the forge did not say.
    public var retryAt: Date?

    public init(_ code: Code, _ description: String, retryAt: Date? = nil) {
        self.code = code
        self.description = description
        self.retryAt = retryAt
    }
}

/// What a forge says about a change that it was told to merge.
struct ForgeMergeFacts: Sendable, Equatable {
    var isMerged: Bool
    /// The commit on the target, of a merged change.
    var commit: String?
    var head: String
    /// Whether it is open, no draft, and does not conflict; nil where the forge has not found out yet.
    var isMergeable: Bool?
}
