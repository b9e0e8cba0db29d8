public import Foundation

/// What went wrong at a forge, or on the way to it.
public struct ForgeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. More may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The repository's address can't be used.
        public static let badAddress = Code(rawValue: "bad-address")
        /// A credential is missing, or is not in a form that the forge knows.
        public static let badCredential = Code(rawValue: "bad-credential")
        /// No answer: no network, no such host, a deadline that passed, an answer that was cut off.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The forge answered that it can't answer now: 5xx.
        public static let unavailable = Code(rawValue: "unavailable")
        /// Too many requests; ``ForgeError/retryAt`` says when the next one may be sent.
        public static let rateLimited = Code(rawValue: "rate-limited")
        /// The credential is unknown or has expired: 401.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The credential may not do this: 403.
        public static let forbidden = Code(rawValue: "forbidden")
        /// The repository, commit or comment is not there, or not visible to the credential: 404 and 410.
        public static let notFound = Code(rawValue: "not-found")
        /// The forge will never take this request: any other 4xx.
        public static let refused = Code(rawValue: "refused")
        /// The answer is not what the API's description says.
        public static let badAnswer = Code(rawValue: "bad-answer")
    }

    public var code: Code
    /// One sentence without secrets, and what to do next where that is known.
    public var description: String
    /// The HTTP status, where there was an answer.
    public var status: Int?
    /// The earliest time for the next request; nil where the forge did not say.
    public var retryAt: Date?

    public init(_ code: Code, _ description: String, status: Int? = nil, retryAt: Date? = nil) {
        self.code = code
        self.description = description
        self.status = status
        self.retryAt = retryAt
    }

    /// Whether the same request may succeed later. A request that is not worth another try is set aside.
    public var mayPass: Bool {
        [.unreachable, .unavailable, .rateLimited, .unauthorized, .badAnswer].contains(code)
    }
}
