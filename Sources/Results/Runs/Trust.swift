/// How far the code of a run is trusted. It is decided by the commit's ancestry each time a run is prepared.
public enum Trust: String, Sendable, Codable, CaseIterable {
    /// Not, or not yet, part of a protected branch. Possibly nobody has reviewed it.
    case change
    /// The tested commit is the tip of a protected branch or in its history.
    case merged
}
