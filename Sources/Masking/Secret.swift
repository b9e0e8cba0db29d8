/// A secret's value with its name. Whatever prints it prints the name.
public struct Secret: Sendable {
    public let name: String
    /// Exactly as it was stored.
    package let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Bytes that a value needs, line feeds at its end not counted, to be found in output.
    public static let shortestMaskable = SecretForms.shortest

    /// Whether the value is long enough to be masked.
    public var isMaskable: Bool { bytes.withoutLineEnds.count >= Secret.shortestMaskable }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "secret \(name)" }
    public var debugDescription: String { description }
    /// Without the value, which `dump` would show.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
