/// Why a secret can't be read, set or removed.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name, or the name of the repository, can't be one.
        public static let name = Code(rawValue: "name")
        /// The value is empty, too short or too long.
        public static let value = Code(rawValue: "value")
        /// No such secret is set.
        public static let notSet = Code(rawValue: "not-set")
        /// Others can read it, or it is no regular file of ours.
        public static let unsafe = Code(rawValue: "unsafe")
        /// The disk or the keychain refused.
        public static let system = Code(rawValue: "system")
    }

    public let code: Code
    /// What is wrong and what to do next; never a part of a value.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
