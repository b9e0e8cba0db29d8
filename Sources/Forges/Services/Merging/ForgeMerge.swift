public import Foundation

/// A request to a forge: merge this change if its head is still the tested one.
public struct ForgeMerge: Sendable, Equatable {
    /// How the change's commits reach the target.
    public enum Method: String, Sendable, Codable, CaseIterable {
        /// With a merge commit.
        case merge
        /// As one commit.
        case squash
        /// The commits one by one. GitLab's API can't choose this; the project's merge method decides.
        case rebase
    }

    /// The change's number at the forge.
    public var change: Int
    /// The head that was tested, as 40 or 64 hexadecimal digits. The forge refuses any other.
    public var head: String
    public var method: Method
    /// The first line of the new commit's message; nil for the forge's default. A rebase creates no commit.
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
        /// Nothing was merged because the forge is down or its rate limit is reached. The same request may be repeated
        /// later.
        public static let notNow = Code(rawValue: "not-now")
        /// The request may have taken effect, and the forge does not answer. The same request may be repeated: it first
        /// finds out.
        public static let unknownEnd = Code(rawValue: "unknown-end")
        /// The repository is connected with no forge, or its credential is missing.
        public static let notConnected = Code(rawValue: "not-connected")
    }

    public var code: Code
    /// One sentence without secrets. It may quote the forge.
    public var description: String
    /// The earliest time for another request; nil if the forge gave none.
    public var retryAt: Date?

    public init(_ code: Code, _ description: String, retryAt: Date? = nil) {
        self.code = code
        self.description = description
        self.retryAt = retryAt
    }
}

/// The forge's state of a change that should be merged.
struct ForgeMergeFacts: Sendable, Equatable {
    var isMerged: Bool
    /// The commit on the target, of a merged change.
    var commit: String?
    var head: String
    /// Whether it is open, not a draft, and without conflict; nil if the forge has not determined that yet.
    var isMergeable: Bool?
}
