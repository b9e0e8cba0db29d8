/// Why a text is no address of a machine, as a sentence.
package struct AddressProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

/// The address of a machine that is reached by ssh: `ssh://user@host:port`, of which only the host is needed.
package struct SSHAddress: Hashable, Sendable, CustomStringConvertible {
    /// Nil for the user that ssh takes: that of this process.
    package let user: String?
    /// A name, or an address of IP version 4 or 6.
    package let host: String
    package let port: Int

    /// Reads `ssh://user@host:port`, `user@host`, or `ssh://[2001:db8::1]`.
    ///
    /// The parts become arguments of `ssh`, so none can begin with a dash or contain more than names do.
    package init(_ text: String) throws(AddressProblem) {
        func refused(_ why: String) -> AddressProblem {
            AddressProblem(
                description: "That is no address for ssh: \(why). Write ssh://user@host or ssh://user@host:port.")
        }
        let scheme = "ssh://"
        var rest = text.hasPrefix(scheme) ? text.dropFirst(scheme.count) : Substring(text)
        if rest.hasSuffix("/") { rest.removeLast() }
        if let at = rest.lastIndex(of: "@") {
            let name = rest[..<at]
            guard Self.isSafe(name, beside: "._-") else { throw refused("the user's name has other characters") }
            user = String(name)
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
        }
        var ending: Substring?
        if rest.hasPrefix("["), let close = rest.firstIndex(of: "]") {
            let address = rest[rest.index(after: rest.startIndex)..<close]
            guard Self.isSafe(address, beside: ":.%"), address.contains(":") else {
                throw refused("what is in brackets is no address")
            }
            host = String(address)
            let after = rest[rest.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw refused("something follows the brackets") }
            ending = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw refused("an address with colons stands in brackets") }
            guard Self.isSafe(parts[0], beside: ".-_") else { throw refused("the host's name has other characters") }
            host = String(parts[0])
            ending = parts.count == 2 ? parts[1] : nil
        }
        guard let ending else {
            port = 22
            return
        }
        guard ending.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(ending),
            (1...65_535).contains(number)
        else { throw refused("the port is none") }
        port = number
    }

    /// Nothing that ssh could take for an option, or a shell for more than a word.
    private static func isSafe(_ text: Substring, beside marks: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && !text.hasPrefix("-")
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || marks.contains($0)) }
    }

    /// The host as files of known hosts name it.
    package var knownName: String { port == 22 ? host : "[\(host)]:\(port)" }

    package var description: String {
        let written = host.contains(":") ? "[\(host)]" : host
        return "ssh://" + (user.map { $0 + "@" } ?? "") + written + (port == 22 ? "" : ":\(port)")
    }
}
