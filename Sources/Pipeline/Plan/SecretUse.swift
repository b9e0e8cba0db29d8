/// How a step gets a secret.
public enum SecretDelivery: String, Sendable, Codable {
    /// In a file that only the step can read. The variable `NAME_FILE` has its path, where `NAME` is the secret's name.
    case file
    /// As the value of the variable with the secret's name, without line feeds at its end. Every process that the step
    /// starts can see it; prefer a file where the tool can read one.
    case environment
}

/// A secret that a step uses.
public struct SecretUse: Sendable, Equatable, Codable {
    /// Capital letters, digits and `_`, as in `DEPLOY_TOKEN`.
    public var name: String
    /// Whether the step gets it as a file or as a variable.
    public var delivery: SecretDelivery

    /// Uses the secret `name`, by default as a file.
    public init(_ name: String, as delivery: SecretDelivery = .file) {
        self.name = name
        self.delivery = delivery
    }

    /// The name of the variable through which the step gets it.
    public var variable: String { delivery == .file ? StepVariable.secretFile(name) : name }
}

extension SecretUse {
    /// The longest name, in bytes.
    static let longestName = 100

    /// Why a secret can't have this name; nil for a usable name.
    package static func problem(with name: String) -> String? {
        let isFirst: (UInt8) -> Bool = {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "_")
        }
        let isUsable =
            name.utf8.first.map(isFirst) == true && name.utf8.count <= longestName
            && name.utf8.allSatisfy { isFirst($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if !isUsable {
            return "\"\(name.prefix(100))\" is not a valid name of a secret; "
                + "write capitals, digits and _, like DEPLOY_TOKEN, at most \(longestName) of them"
        }
        if name.hasPrefix("PIPECTL_") { return "\(name) is reserved for pipectl; use another name, like DEPLOY_TOKEN" }
        if ownVariables.contains(name) { return "\(name) is a variable that tools need; use another name" }
        return nil
    }

    private static let ownVariables: Set<String> = [
        "CI", "HOME", "IFS", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "LOGNAME", "PATH", "PIPECTL", "PWD", "SHELL",
        "SOURCE_DATE_EPOCH", "TMPDIR", "USER",
    ]
}
