/// A secret's value and name. Printing it shows the name only.
public struct Secret: Sendable {
    /// The secret's name, as in `DEPLOY_TOKEN`.
    public let name: String
    /// The value, exactly as it was stored.
    package let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The shortest value, in bytes without line feeds at its end, that can be masked in output.
    public static let shortestMaskable = SecretForms.shortest

    /// Whether the value is long enough to be masked.
    public var isMaskable: Bool { bytes.withoutLineEnds.count >= Secret.shortestMaskable }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "secret \(name)" }
    public var debugDescription: String { description }
    /// Contains the name only, because `dump` would show the value.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
