/// Why the box can't do what was asked.
public struct BoxError: Error, Sendable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let unknownRepository = Code(rawValue: "unknown-repository")
        public static let unknownRun = Code(rawValue: "unknown-run")
        public static let unknownTest = Code(rawValue: "unknown-test")
        public static let unknownChange = Code(rawValue: "unknown-change")
        public static let unknownWorkflow = Code(rawValue: "unknown-workflow")
        public static let noWorkflows = Code(rawValue: "no-workflows")
        public static let usage = Code(rawValue: "usage")
        public static let missingTool = Code(rawValue: "missing-tool")
        public static let fetch = Code(rawValue: "fetch")
    }

    public let code: Code
    /// What is wrong and what to do next.
    public let description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
