/// What went wrong between a command and the daemon; travels over the socket as it is.
public struct DaemonError: Error, Sendable, Equatable, Codable {
    /// What to switch on; open for those that later versions add.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no socket, or nobody answers at it.
        public static let notRunning = Code(rawValue: "not running")
        /// Another daemon answers at this socket.
        public static let alreadyRunning = Code(rawValue: "already running")
        /// The daemon is there and takes no connection: it is stopped or overloaded.
        public static let notResponding = Code(rawValue: "not responding")
        /// The connection ended before the answer did; whether the request took effect is unknown.
        public static let disconnected = Code(rawValue: "disconnected")
        /// What was sent is no request.
        public static let badRequest = Code(rawValue: "bad request")
        /// A line is longer than its limit.
        public static let tooLarge = Code(rawValue: "too large")
        /// The two sides speak different versions.
        public static let otherVersion = Code(rawValue: "other version")
        /// All connections are taken.
        public static let busy = Code(rawValue: "busy")
        /// A request was begun and not finished in time.
        public static let timedOut = Code(rawValue: "timed out")
        /// The other side runs as another user.
        public static let otherUser = Code(rawValue: "other user")
        /// The daemon stops; the request was not finished.
        public static let stopping = Code(rawValue: "stopping")
        /// The request was understood and failed.
        public static let failed = Code(rawValue: "failed")
        /// The socket cannot be made or used here.
        public static let socket = Code(rawValue: "socket")
    }

    public var code: Code
    /// A sentence for people: what is wrong and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension DaemonError: CustomStringConvertible {
    public var description: String { message }
}
