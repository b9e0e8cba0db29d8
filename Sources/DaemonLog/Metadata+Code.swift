public import Logging
public import Results

extension Logger.Metadata {
    /// What a line of the daemon's log has besides its sentence.
    ///
    /// - Parameters:
    ///   - run: The id of the run that the line is about.
    ///   - repository: The name of the repository, as `pipectl status` lists it.
    ///   - facts: What else the code has, with a name each.
    public static func code(
        _ code: LogCode, run: RunID? = nil, repository: String? = nil, _ facts: [String: String] = [:]
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [LogField.event: .string(code.rawValue)]
        if let run { metadata[LogField.run] = .stringConvertible(run) }
        if let repository { metadata[LogField.repository] = .string(repository) }
        for (name, value) in facts { metadata[name] = .string(value) }
        return metadata
    }
}

/// The names that every line has, or may have.
enum LogField {
    static let time = "time"
    static let level = "level"
    static let event = "event"
    static let run = "run"
    static let repository = "repository"
    static let message = "message"
}
