/// What went wrong between a command and the daemon. It is sent over the socket as it is.
public struct DaemonError: Error, Sendable, Equatable, Codable {
    /// A code to switch on. Later versions may add more.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no socket, or nobody answers on it.
        public static let notRunning = Code(rawValue: "not running")
        /// Another daemon answers on this socket.
        public static let alreadyRunning = Code(rawValue: "already running")
        /// The daemon accepts no connection: it is stopped or overloaded.
        public static let notResponding = Code(rawValue: "not responding")
        /// The connection ended before the answer did; whether the request took effect is unknown.
        public static let disconnected = Code(rawValue: "disconnected")
        /// The line that was sent is not a request.
        public static let badRequest = Code(rawValue: "bad request")
        /// A line is longer than its limit.
        public static let tooLarge = Code(rawValue: "too large")
        /// The two sides use different versions of the protocol.
        public static let otherVersion = Code(rawValue: "other version")
        /// The daemon has too many connections.
        public static let busy = Code(rawValue: "busy")
        /// A request was not complete in time.
        public static let timedOut = Code(rawValue: "timed out")
        /// The other side runs as another user.
        public static let otherUser = Code(rawValue: "other user")
        /// The daemon stopped before it had answered the request.
        public static let stopping = Code(rawValue: "stopping")
        /// The request was understood and failed.
        public static let failed = Code(rawValue: "failed")
        /// The socket cannot be made or used here.
        public static let socket = Code(rawValue: "socket")
    }

    /// What is wrong, to switch on.
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
