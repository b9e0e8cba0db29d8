/// Why a secret can't be read, set or removed.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the secret or of the repository is not allowed.
        public static let name = Code(rawValue: "name")
        /// The value is empty, too short or too long.
        public static let value = Code(rawValue: "value")
        /// No such secret is set.
        public static let notSet = Code(rawValue: "not-set")
        /// Others can read it, or it is not a regular file of ours.
        public static let unsafe = Code(rawValue: "unsafe")
        /// An error of the disk or of the keychain.
        public static let system = Code(rawValue: "system")
    }

    public let code: Code
    /// What is wrong and what to do next. It never contains a part of a value.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
