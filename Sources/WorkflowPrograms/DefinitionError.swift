import Pipeline
public import PlanRules

/// Why the workflows of a commit can't be used. The verdict is "definition error", and the author has to fix it.
public struct DefinitionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of the error; more may be added.
    public struct Code: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// There is no `workflows/` folder, or it has no Swift file.
        public static let noWorkflows = Code(rawValue: "no-workflows")
        /// The compiler refused; ``DefinitionError/output`` is what it printed.
        public static let compileFailed = Code(rawValue: "compile-failed")
        public static let compileTimedOut = Code(rawValue: "compile-timed-out")
        /// No file declares `@main struct …: WorkflowSet`.
        public static let noEntryPoint = Code(rawValue: "no-entry-point")
        /// It compiles but can't run: see ``DefinitionError/findings``.
        public static let invalid = Code(rawValue: "invalid")
        /// No workflow has the name that was asked for.
        public static let unknownWorkflow = Code(rawValue: "unknown-workflow")
        /// The program ended with an error while it was asked for a plan.
        public static let planFailed = Code(rawValue: "plan-failed")
        public static let planTimedOut = Code(rawValue: "plan-timed-out")
        /// The program's answer is not valid.
        public static let badAnswer = Code(rawValue: "bad-answer")
    }

    /// What is wrong, to switch on.
    public var code: Code
    /// What is wrong and the next step, in one or two sentences.
    public var message: String
    /// What the compiler or the program printed, with paths as in the repository.
    public var output: String
    /// All findings of the validation.
    public var findings: [PlanFinding]

    public init(_ code: Code, _ message: String, output: String = "", findings: [PlanFinding] = []) {
        self.code = code
        self.message = message
        self.output = output
        self.findings = findings
    }

    /// The message, then the findings or the output, each on its lines.
    public var description: String {
        ([message] + findings.map(\.description) + (output.isEmpty ? [] : [output])).joined(separator: "\n")
    }
}
