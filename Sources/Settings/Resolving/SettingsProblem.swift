/// One thing that is wrong with the settings.
public struct SettingsProblem: Sendable, Equatable {
    public enum Code: Sendable, Equatable {
        /// The file can't be used as a whole: missing, not a file, too large, others may write it, not UTF-8, not JSON.
        case file
        case unknownKey
        case duplicateKey
        case wrongType
        /// A wrong unit, out of range, or refused by the setting's own check.
        case wrongValue
        case missingKey
    }

    public var code: Code
    /// The key or the environment variable; empty for the file as a whole.
    public var name: String
    /// The line in the file, from 1; nil for the environment and for the file as a whole.
    public var line: Int?
    /// A sentence that says what is allowed.
    public var sentence: String
}

/// Everything that is wrong with the settings.
public struct SettingsError: Error, Sendable, CustomStringConvertible {
    /// At least one.
    public var problems: [SettingsProblem]
    /// The file's path.
    public var file: String?

    init(_ problems: [SettingsProblem], file: String?) { (self.problems, self.file) = (problems, file) }

    /// One line for each problem; those of the file come first.
    public var description: String {
        let most = 40
        var lines = problems.prefix(most).map { problem in
            switch problem.line {
            case _ where problem.code == .file && problem.line == nil: problem.sentence
            case .some(let line): "\(file ?? "settings"), line \(line): \(problem.sentence)"
            case .none: problem.sentence
            }
        }
        if problems.count > most { lines.append("… and \(problems.count - most) more") }
        lines.append("`pipectl config show` lists all settings, docs/settings.md explains them.")
        return lines.joined(separator: "\n")
    }
}
