public import Results

/// How far the mending of a run is.
public enum FixProgress: Sendable, Codable {
    /// One line for people.
    case note(String)
    case ended(FixSeries)
}
