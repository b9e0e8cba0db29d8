/// A secret that a step gets as a file.
package struct SecretFile: Sendable {
    /// The file's name, which is the secret's name.
    package let name: String
    /// The content, exactly as it was stored.
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

extension SecretFile: CustomStringConvertible, CustomReflectable {
    package var description: String { "file of secret \(name)" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
