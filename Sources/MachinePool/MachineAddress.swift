/// How a machine is reached: not at all, since the daemon is on it; by ssh; or through a Slurm cluster.
package enum MachineAddress: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The machine of the daemon.
    case here
    case ssh(SSHAddress)
    /// A cluster, or one partition of it.
    case slurm(partition: String?)

    /// Reads `ssh://user@host:port`, `slurm` or `slurm://PARTITION`; nil for anything else.
    package init?(_ text: String) {
        if text == "slurm" {
            self = .slurm(partition: nil)
        } else if text.hasPrefix("slurm://") {
            let partition = String(text.dropFirst("slurm://".count))
            guard partition.isPlainName else { return nil }
            self = .slurm(partition: partition)
        } else if text.hasPrefix("ssh://"), let address = try? SSHAddress(text) {
            self = .ssh(address)
        } else {
            return nil
        }
    }

    /// Reads what ``description`` wrote of a machine that is not this one.
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
        case .here: "this machine"
        case .ssh(let address): address.description
        case .slurm(let partition): "slurm" + (partition.map { "://" + $0 } ?? "")
        }
    }

    /// A name for the machine if it is given none: the first part of the host, or the partition.
    package var usualName: String {
        switch self {
        case .here: "this machine"
        case .ssh(let address):
            address.host.contains(":") || address.host.allSatisfy { $0.isNumber || $0 == "." }
                ? address.host.replacing(":", with: "-") : address.host.prefix { $0 != "." }.lowercased()
        case .slurm(let partition): partition?.lowercased() ?? "slurm"
        }
    }
}

extension String {
    /// Whether it can be the name of a partition or machine: 1 to 200 letters, digits, `-`, `_` and `.`, of which the
    /// first is a letter, a digit or `_`.
    package var isPlainName: Bool {
        func isWord(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        }
        return utf8.count <= 200 && utf8.first.map { isWord($0) || $0 == 95 } ?? false
            && utf8.allSatisfy { isWord($0) || [45, 46, 95].contains($0) }
    }
}
