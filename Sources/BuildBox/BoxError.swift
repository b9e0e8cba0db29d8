/// Why the box can't do what was asked.
public struct BoxError: Error, Sendable, CustomStringConvertible {
    /// What kind of reason it is: a word that stays the same from one version to the next.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The box watches none of this name.
        public static let unknownRepository = Code(rawValue: "unknown-repository")
        /// Neither queue nor archive has one of this number.
        public static let unknownRun = Code(rawValue: "unknown-run")
        /// A name means several runs.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// No run had one of this name, or several are called so.
        public static let unknownTest = Code(rawValue: "unknown-test")
        /// The repository has none of this number.
        public static let unknownChange = Code(rawValue: "unknown-change")
        /// Several changes are called so.
        public static let ambiguousChange = Code(rawValue: "ambiguous-change")
        /// An agent asked for what only a person may start.
        public static let needsPerson = Code(rawValue: "needs-person")
        /// The branch that changes of the repository want into is not known.
        public static let unknownTarget = Code(rawValue: "unknown-target")
        /// The repository's workflows have none of this name.
        public static let unknownWorkflow = Code(rawValue: "unknown-workflow")
        /// The commit or folder has no `workflows/`.
        public static let noWorkflows = Code(rawValue: "no-workflows")
        /// What was asked makes no sense, or not at this time.
        public static let usage = Code(rawValue: "usage")
        /// The machine lacks a program.
        public static let missingTool = Code(rawValue: "missing-tool")
        /// A notification could not be delivered.
        public static let notify = Code(rawValue: "notify")
        /// A remote could not be read.
        public static let fetch = Code(rawValue: "fetch")
    }

    /// Whose fault it is that the request was not carried out.
    public enum Origin: String, Sendable, Codable {
        /// What was asked, or what the definition says: whoever asks can mend it.
        case request
        /// The machine or the state of the daemon: a full disk, a damaged index.
        case box
    }

    public let code: Code
    /// What is wrong and what to do next.
    public let description: String
    public let origin: Origin

    public init(_ code: Code, _ description: String, origin: Origin = .request) {
        self.code = code
        self.description = description
        self.origin = origin
    }
}
