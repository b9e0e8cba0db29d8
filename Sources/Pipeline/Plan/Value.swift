/// A typed value that one step publishes and steps that need it read.
///
/// ```swift
/// let version = Value<String>("version")
/// let read = Step("version") { step in try step.publish("1.2.0", as: version) }.publishes(version)
/// Step("pack", needs: read) { step in step.log(try step.value(of: version)) }.reads(version)
/// ```
/// A command publishes by writing JSON to `$PIPECTL_VALUES_OUT/NAME.json` and reads `$PIPECTL_VALUES_IN/NAME.json`.
public struct Value<Content: Codable & Sendable>: Sendable {
    /// Unique in the workflow.
    public let name: String

    /// Declares a value. Use the same declaration in all steps that publish or read it.
    public init(_ name: String) { self.name = name }
}
