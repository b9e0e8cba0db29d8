/// How a machine is reached: by ssh, or through a Slurm cluster.
package enum MachineAddress: Sendable, Hashable, Codable, CustomStringConvertible {
    case ssh(user: String?, host: String, port: Int?)
    /// A cluster, or one partition of it.
    case slurm(partition: String?)

    /// Reads `ssh://user@host:port`, `slurm` or `slurm://PARTITION`; nil for anything else.
    ///
    /// The parts become arguments of `ssh` and `sbatch`, so none can begin with a dash or contain more than names do.
    package init?(_ text: String) {
        if text == "slurm" {
            self = .slurm(partition: nil)
        } else if let partition = text.rest(after: "slurm://") {
            guard partition.isPlainName else { return nil }
            self = .slurm(partition: partition)
        } else if let rest = text.rest(after: "ssh://") {
            var place = rest[...]
            var user: String?
            if let at = place.lastIndex(of: "@") {
                user = String(place[..<at])
                place = place[place.index(after: at)...]
            }
            guard let (host, port) = Self.hostAndPort(place), user?.isPlainName ?? true else { return nil }
            self = .ssh(user: user, host: host, port: port)
        } else {
            return nil
        }
    }

    /// Reads what ``description`` wrote.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = MachineAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "this is no address of a machine; write ssh://user@host")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    package var description: String {
        switch self {
        case .ssh(let user, let host, let port):
            "ssh://" + (user.map { $0 + "@" } ?? "") + (host.contains(":") ? "[\(host)]" : host)
                + (port.map { ":\($0)" } ?? "")
        case .slurm(let partition): "slurm" + (partition.map { "://" + $0 } ?? "")
        }
    }

    /// A name for the machine if it is given none: the first part of the host, or the partition.
    package var usualName: String {
        switch self {
        case .ssh(_, let host, _):
            host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
                ? host.replacing(":", with: "-") : host.prefix { $0 != "." }.lowercased()
        case .slurm(let partition): partition?.lowercased() ?? "slurm"
        }
    }

    private static func hostAndPort(_ text: Substring) -> (String, Int?)? {
        var host = text
        var rest = text[text.endIndex...]
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            guard String(host).isPlainName else { return nil }
        }
        guard !rest.isEmpty else { return (String(host), nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }
}

extension String {
    fileprivate func rest(after start: String) -> String? { hasPrefix(start) ? String(dropFirst(start.count)) : nil }

    /// Whether it can be the name of a user, host, partition or machine: 1 to 200 letters, digits, `-`, `_` and `.`, of
    /// which the first is a letter or digit.
    package var isPlainName: Bool {
        func isWord(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        }
        return utf8.count <= 200 && utf8.first.map { isWord($0) || $0 == 95 } ?? false
            && utf8.allSatisfy { isWord($0) || [45, 46, 95].contains($0) }
    }
}
