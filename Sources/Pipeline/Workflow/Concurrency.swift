/// What happens to older runs of the same workflow and subject when a new run is accepted.
///
/// The subject is the change; for a run without a change, the branch or tag.
public enum Concurrency: Sendable, Equatable, Codable {
    /// The older run, queued or running, ends with the verdict "superseded". This is the default for changes.
    case supersede
    /// Runs execute one after the other. When more than `max` are queued, the oldest queued one is superseded. A run that
    /// waits for an approval keeps the others waiting.
    case queue(max: Int)
    /// The running run continues. Of the queued ones, only the newest is kept. A run that only waits for an approval is
    /// superseded by it.
    case latestOnly
}
