public import Results

/// The progress of an attempt to fix a run.
public enum FixProgress: Sendable, Codable {
    /// One line for people.
    case note(String)
    case ended(FixSeries)
}
