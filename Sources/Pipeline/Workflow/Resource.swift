/// Something the box has few of: one simulator, two licences. Steps of all runs share its capacity.
///
/// ```swift
/// let simulator = Resource("simulator", capacity: 1)
/// Step("UI tests", run: "…").uses(simulator)
/// ```
public struct Resource: Sendable, Hashable, Codable {
    public let name: String
    /// How many units the box has.
    public let capacity: Int

    public init(_ name: String, capacity: Int) {
        self.name = name
        self.capacity = capacity
    }
}
