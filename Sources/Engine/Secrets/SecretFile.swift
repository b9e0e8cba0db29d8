/// A secret on its way to a step, as a file.
struct SecretFile: Sendable {
    /// The file's name: the secret's.
    let name: String
    let bytes: [UInt8]
}

extension SecretFile: CustomStringConvertible, CustomReflectable {
    var description: String { "file of secret \(name)" }
    var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
