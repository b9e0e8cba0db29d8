/// The questions that pipectl asks a compiled workflow program, as its first argument.
///
/// Answers go to the file given with `--output`, as JSON; what the workflow prints while it is planned
/// stays on its own streams. The program ends with 0 when it has answered.
public enum ProgramRequest: String, Sendable, Codable, CaseIterable {
    /// `describe --output FILE`: a ``ProgramDescription``.
    case describe
    /// `plan --workflow NAME --context FILE --output FILE`: a ``Plan``.
    case plan
    /// `step --workflow NAME --step NAME --context FILE`: runs a closure step.
    case step
}

/// What a workflow program says of itself.
public struct ProgramDescription: Sendable, Equatable, Codable {
    /// The ``Plan/formatVersion`` that the program was compiled with.
    public var formatVersion = Plan.formatVersion
    public var workflows: [WorkflowDeclaration]
    public init(workflows: [WorkflowDeclaration]) { self.workflows = workflows }
}

/// The names of the environment variables that a step sees.
public enum StepVariable {
    public static let workspace = "PIPECTL_WORKSPACE"
    public static let attempt = "PIPECTL_ATTEMPT"
    public static let valuesIn = "PIPECTL_VALUES_IN"
    public static let valuesOut = "PIPECTL_VALUES_OUT"

    /// The variable that holds the path of a cache: `PIPECTL_CACHE_SWIFTPM` for `swiftpm`.
    package static func cache(_ name: String) -> String {
        "PIPECTL_CACHE_" + String(name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
    /// The variable that holds the path of a secret's file: `DEPLOY_TOKEN_FILE` for `DEPLOY_TOKEN`.
    public static func secretFile(_ name: String) -> String { name + "_FILE" }

    /// The variable that holds a parameter: `PIPECTL_PARAM_DRY_RUN` for `dry-run`.
    public static func parameter(_ name: String) -> String {
        "PIPECTL_PARAM_" + String(name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
}
