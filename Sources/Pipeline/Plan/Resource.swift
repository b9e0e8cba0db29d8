/// Something of which the build box has few: one simulator, two licences. The steps of all runs share its capacity.
///
/// ```swift
/// let simulator = Resource("simulator", capacity: 1)
/// Step("UI tests", run: "…").uses(simulator)
/// ```
public struct Resource: Sendable, Hashable, Codable {
    /// Unique on the build box: resources with the same name are the same.
    public let name: String
    /// How many units exist.
    public let capacity: Int

    /// Declares a resource. Declare it once, and use that in all steps.
    public init(_ name: String, capacity: Int) {
        self.name = name
        self.capacity = capacity
    }
}
