#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The machine could not store or build a program. It is not the author's fault: the verdict is "infrastructure".
public struct ProgramCacheError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let diskFull = Code(rawValue: "disk-full")
        /// A file of the cache can't be read or written.
        public static let storage = Code(rawValue: "storage")
        /// The compiler can't read the Pipeline library of this pipectl, because its version differs.
        public static let otherToolchain = Code(rawValue: "other-toolchain")
    }

    /// What is wrong, to switch on.
    public let code: Code
    /// What is wrong and what to do next.
    public let message: String
    /// The compiler's output, if the compiler failed.
    public let output: String

    init(_ code: Code, _ message: String, output: String = "") {
        self.code = code
        self.message = message
        self.output = output
    }

    init(path: String, errno code: Int32) {
        let reason = String(cString: strerror(code))
        self.init(
            code == ENOSPC || code == EDQUOT ? .diskFull : .storage,
            "\(path) can't be written: \(reason). Free space or correct its owner; `pipectl gc` removes old runs.")
    }

    public var description: String { output.isEmpty ? message : "\(message)\n\(output)" }
}
