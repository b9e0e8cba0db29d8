/// A host that agents may reach, as a definition names it: `api.example.com`, or with a port that is not 443:
/// `models.example.com:8443`.
package struct AllowedHost: Sendable, Hashable {
    /// In lower case, without the dot at the end.
    package let name: String
    package let port: UInt16

    /// - Parameter text: As written in the definition, or as a client asks for it.
    package init(_ text: String) throws(AllowedHostProblem) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first else { throw AllowedHostProblem(text: text, reason: .noName) }
        var name = first.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        var port: UInt16 = 443
        if parts.count == 2 {
            guard let number = UInt16(parts[1]), number > 0 else {
                throw AllowedHostProblem(text: text, reason: .noPort)
            }
            port = number
        }
        if let reason = Self.problem(name) { throw AllowedHostProblem(text: text, reason: reason) }
        (self.name, self.port) = (name, port)
    }

    /// Why a name can't be that of a host; nil if it can.
    private static func problem(_ name: String) -> AllowedHostProblem.Reason? {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.count >= 2, let last = labels.last?.utf8.first else { return .noName }
        for label in labels {
            guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-",
                label.utf8.allSatisfy(isOfName)
            else { return .noName }
        }
        // No top-level domain begins with a digit, but resolvers read such a name as an address: 127.1, 0x7f.1.
        guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(last) else { return .address }
        return nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Why a text names no host that agents may reach.
package struct AllowedHostProblem: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable { case noName, address, noPort }

    package let text: String
    package let reason: Reason

    package var description: String {
        switch reason {
        case .noName: "\"\(text)\" is no host's full name; write it as in \"api.example.com\""
        case .address: "\"\(text)\" is an address; write the host's name"
        case .noPort: "\"\(text)\" has no valid port; write it as in \"api.example.com:8443\", or leave it out"
        }
    }
}
