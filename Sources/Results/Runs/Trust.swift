/// How far the code of a run is trusted; decided anew by ancestry whenever a run is prepared.
public enum Trust: String, Sendable, Codable, CaseIterable {
    /// Not, or not yet, part of a protected branch: nobody may have read it.
    case change
    /// The tested commit is the tip of a protected branch or in its history.
    case merged
}
