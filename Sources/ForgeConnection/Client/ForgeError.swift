public import Foundation

/// An error of a forge, or on the way to it.
public struct ForgeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error. Later versions may add kinds.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The repository's address can't be used.
        public static let badAddress = Code(rawValue: "bad-address")
        /// A credential is missing, or has an unknown format.
        public static let badCredential = Code(rawValue: "bad-credential")
        /// No answer: no network, no such host, a missed deadline, or an answer that was cut off.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The forge can't answer now: 5xx.
        public static let unavailable = Code(rawValue: "unavailable")
        /// Too many requests; ``ForgeError/retryAt`` says when the next one may be sent.
        public static let rateLimited = Code(rawValue: "rate-limited")
        /// The credential is wrong or has expired: 401.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The credential lacks a permission: 403.
        public static let forbidden = Code(rawValue: "forbidden")
        /// The repository, commit or comment does not exist, or the credential may not see it: 404 and 410.
        public static let notFound = Code(rawValue: "not-found")
        /// The forge will never accept this request: any other 4xx.
        public static let refused = Code(rawValue: "refused")
        /// The answer does not fit the API's description.
        public static let badAnswer = Code(rawValue: "bad-answer")
    }

    /// The kind of error, to switch on.
    public var code: Code
    /// One sentence without secrets. It says what to do next, if that is known.
    public var description: String
    /// The HTTP status, if there was an answer.
    public var status: Int?
    /// The earliest time for the next request; nil if the forge gave none.
    public var retryAt: Date?

    public init(_ code: Code, _ description: String, status: Int? = nil, retryAt: Date? = nil) {
        self.code = code
        self.description = description
        self.status = status
        self.retryAt = retryAt
    }

    /// Whether the same request may succeed later. If not, the delivery is not tried again.
    public var mayPass: Bool {
        [.unreachable, .unavailable, .rateLimited, .unauthorized, .badAnswer].contains(code)
    }
}
