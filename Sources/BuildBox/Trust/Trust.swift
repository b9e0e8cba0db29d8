/// How far a run is trusted: what it is given follows from this alone.
public enum Trust: String, Sendable, Codable {
    /// The commit was proposed, or is a working tree: no secrets.
    case change
    /// The commit is in a protected branch.
    case merged
}
