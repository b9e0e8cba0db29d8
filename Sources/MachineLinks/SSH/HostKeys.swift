import Crypto
import Foundation
package import MachinePool
import Results
import Sandbox

/// A public key by which a machine proves who it is.
package struct HostKey: Hashable, Sendable {
    /// "ssh-ed25519".
    package let kind: String
    /// The key as ssh encodes it, in base 64.
    package let text: String

    /// Reads a kind and a key in base 64.
    ///
    /// - Returns: Nil if it is none.
    package init?(kind: String, text: String) {
        guard kind.utf8.count <= 64, text.utf8.count <= 8_192, let bytes = Data(base64Encoded: text),
            // The key begins with its kind, after four bytes for the length of that.
            bytes.count > kind.utf8.count + 4, bytes.dropFirst(4).starts(with: kind.utf8)
        else { return nil }
        self.kind = kind
        self.text = text
    }

    /// "SHA256:…", as `ssh-keygen -l` prints it.
    package var fingerprint: String {
        let digest = Data(SHA256.hash(data: Data(base64Encoded: text) ?? Data()))
        return "SHA256:" + digest.base64EncodedString().prefix { $0 != "=" }
    }
}

/// Asks machines for their keys, with ssh-keyscan(1).
package enum HostKeys {
    /// The keys that the machine shows. Whether they are its own is for a person to say, who compares a fingerprint.
    ///
    /// - Throws: ``ReachProblem``, `CancellationError`.
    package static func shown(
        by address: SSHAddress, environment: [String: String]
    ) async throws -> [HostKey] {
        let command = ExternalCommand(
            // It connects once for each kind of key. A busy machine needs long for that, and a kind that came too late
            // would be missing from the answer.
            "ssh-keyscan", ["-T", "30", "-p", String(address.port), "--", address.host], in: "/",
            environment: environment, deadline: .seconds(60), outputLimit: 256 << 10)
        let ended: ExternalCommandResult
        do { ended = try await command.run() } catch let error as ExternalCommandError {
            throw ReachProblem(.missingProgram, error.description)
        }
        let keys = keys(in: ended.text)
        guard keys.isEmpty else { return keys }
        let words = ReachProblem.lastWords(of: ended.text)
        throw ReachProblem(
            .unreachable,
            "\(address) shows no host key\(words.isEmpty ? "" : " (\(words))"). "
                + "Is it running, is its network, and does sshd listen on port \(address.port)?")
    }

    /// Reads lines of the form `host kind key`.
    static func keys(in text: String) -> [HostKey] {
        var keys: Set<HostKey> = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count >= 3, keys.count < 32 else { continue }
            if let key = HostKey(kind: String(words[1]), text: String(words[2])) { keys.insert(key) }
        }
        return keys.sorted { ($0.kind, $0.text) < ($1.kind, $1.text) }
    }
}

/// The file with the keys of machines that pipectl accepts, in the form of ssh's known_hosts.
package struct KnownHosts: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The keys that are pinned for a machine.
    package func keys(of address: SSHAddress) throws -> [HostKey] {
        let own = try lines().filter { Self.name(in: $0) == address.knownName }
        return HostKeys.keys(in: own.joined(separator: "\n"))
    }

    /// Pins these keys for a machine, and no others.
    package func pin(_ keys: [HostKey], for address: SSHAddress) throws {
        let others = try lines().filter { Self.name(in: $0) != address.knownName }
        try write(others + keys.map { "\(address.knownName) \($0.kind) \($0.text)" })
    }

    /// Forgets the keys of a machine.
    package func remove(_ address: SSHAddress) throws { try pin([], for: address) }

    private static func name(in line: String) -> String { line.split(separator: " ").first.map(String.init) ?? "" }

    private func lines() throws -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isNewline).map(String.init)
    }

    private func write(_ lines: [String]) throws {
        // ssh may read the file at this moment: it sees the old one or the new one.
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
