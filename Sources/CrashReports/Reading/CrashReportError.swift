/// Why bytes are not a crash report that can be read: a sentence that says what to do next.
public struct CrashReportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is nothing but white space.
        public static let empty = Code(rawValue: "empty")
        /// It has more than ``CrashLimits/bytes``.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// It is in none of the formats.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// It is JSON up to a point.
        public static let broken = Code(rawValue: "broken")
        /// It is in one of the formats, but no thread of it crashed.
        public static let noCrash = Code(rawValue: "noCrash")
    }

    public let code: Code
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let noCrash = CrashReportError(
        .noCrash, "The report names no call of a thread that crashed. Send the whole report, with its backtrace.")
}

/// What a reader keeps of a report.
public enum CrashLimits {
    /// The largest report, in bytes.
    public static let bytes = 4 << 20
    /// The innermost calls that are kept.
    public static let frames = 256
    /// The loaded files that are looked at.
    static let images = 5_000
    /// The bytes of a line that are looked at.
    static let line = 8 << 10
    /// The bytes of a name, and of a path.
    static let name = 600
    /// The bytes of a message.
    static let message = 2_000
    /// The values of JSON inside each other.
    static let depth = 32
}
