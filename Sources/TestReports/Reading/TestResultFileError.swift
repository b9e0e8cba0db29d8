/// Why a result file could not be opened or read at all.
public struct TestResultFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure. A raw value, so that a new code does not break a caller's `switch`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No file has that path.
        public static let missing = Code(rawValue: "missing")
        /// The path names a link, folder, pipe or device.
        public static let notRegular = Code(rawValue: "not-regular")
        /// The system refused to open or read the file: see ``TestResultFileError/errno``.
        public static let unreadable = Code(rawValue: "unreadable")
    }

    /// The kind of failure.
    public let code: Code

    /// The file's name in the report.
    public let name: String

    /// The system's error number, see errno(3); 0 if the system reported none.
    public let errno: Int32

    /// What is wrong and what to do next.
    public let description: String

    init(_ code: Code, name: String, errno: Int32 = 0, description: String) {
        self.code = code
        self.name = name
        self.errno = errno
        self.description = description
    }
}
