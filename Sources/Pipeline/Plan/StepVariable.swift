/// The names of the environment variables that pipectl sets for a step.
public enum StepVariable {
    /// The workspace's absolute path.
    public static let workspace = "PIPECTL_WORKSPACE"
    /// The attempt's number, from 1.
    public static let attempt = "PIPECTL_ATTEMPT"
    /// The number of the part of a divided step, from 1: see `Step.shards(_:)`.
    public static let shard = "PIPECTL_SHARD"
    /// The number of parts of a divided step.
    public static let shards = "PIPECTL_SHARDS"
    /// The file with the tests that a part of a divided step runs, one a line: see `Step.shards(_:of:)`.
    public static let testsFile = "PIPECTL_TESTS_FILE"
    /// The folder of the values that earlier steps published.
    public static let valuesIn = "PIPECTL_VALUES_IN"
    /// The folder where the step writes the values that it publishes.
    public static let valuesOut = "PIPECTL_VALUES_OUT"

    /// The variable with the path of a cache: `PIPECTL_CACHE_SWIFTPM` for `swiftpm`.
    package static func cache(_ name: String) -> String {
        "PIPECTL_CACHE_" + String(name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
    /// The variable with the path of a secret's file: `DEPLOY_TOKEN_FILE` for `DEPLOY_TOKEN`.
    public static func secretFile(_ name: String) -> String { name + "_FILE" }

    /// The variable with the value of a parameter: `PIPECTL_PARAM_DRY_RUN` for `dry-run`.
    public static func parameter(_ name: String) -> String {
        "PIPECTL_PARAM_" + String(name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
}
