/// What happens to older runs when a new run of the same workflow and subject is wanted.
///
/// The subject is the change for a run of a change, else the branch or tag.
public enum Concurrency: Sendable, Equatable, Codable {
    /// The older run is cancelled, queued or running, with the verdict "superseded". The default for changes.
    case supersede
    /// Runs go one after the other; when more than `max` wait, the oldest waiting one is superseded.
    case queue(max: Int)
    /// A running run ends; of those waiting only the newest is kept.
    case latestOnly
}
