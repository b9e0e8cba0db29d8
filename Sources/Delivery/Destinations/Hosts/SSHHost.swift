import Foundation
import Pipeline
import SystemPackage

/// A host that the system's `ssh` and `sftp` reach with a key of the release, and nothing of this user's configuration.
struct SSHHost: Sendable {
    let user: String?
    let host: String
    let port: Int
    /// The folder with the files `key` and `known_hosts`.
    let files: FilePath

    /// - Parameter text: As in `user@host` or `user@host:2222`.
    /// - Throws: ``DeliveryProblem`` with `.invalid`.
    init(_ text: String, files: FilePath) throws {
        guard let parts = Destination.sshHost(text) else {
            throw DeliveryProblem(
                .invalid, "\"\(PublishedName.shown(text))\" is not a host; write user@host or user@host:PORT")
        }
        (user, host, port) = parts
        self.files = files
    }

    /// Writes the key and the host's key for `ssh` to read.
    func write(key: [UInt8], knownHost: [UInt8]) throws {
        var key = key
        // OpenSSH wants a line's end after the last line.
        if key.last != UInt8(ascii: "\n") { key.append(UInt8(ascii: "\n")) }
        var known = String(decoding: knownHost, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !known.isEmpty else {
            throw DeliveryProblem(.refused, "the secret with the host's key is empty; store a line of known_hosts")
        }
        // The key alone, as `ssh-keyscan` without names or the host's own `.pub` file has it.
        if known.hasPrefix("ssh-") || known.hasPrefix("ecdsa-") { known = "\(nameInKnownHosts) \(known)" }
        try PrivateFolder.write(key, to: files.appending("key"))
        try PrivateFolder.write(Array("\(known)\n".utf8), to: files.appending("known_hosts"))
    }

    /// - Throws: ``DeliveryProblem`` with `.refused` if `ssh` can't use the key.
    func checkKey() async throws {
        let (code, text) = try await DeliveryTool(name: "ssh-keygen", deadline: .seconds(30)).run(
            ["-y", "-P", "", "-f", files.appending("key").string])
        guard code == 0 else {
            throw DeliveryProblem(
                .refused,
                "ssh does not take the secret as a private key without a passphrase: \(DeliveryTool.lastLine(text))")
        }
    }

    private var nameInKnownHosts: String { port == 22 ? host : "[\(host)]:\(port)" }

    private var options: [String] {
        [
            "BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=\(files.appending("known_hosts"))",
            "GlobalKnownHostsFile=/dev/null", "IdentityFile=\(files.appending("key"))", "IdentitiesOnly=yes",
            "IdentityAgent=none", "PreferredAuthentications=publickey", "ConnectTimeout=15", "ServerAliveInterval=15",
            "ServerAliveCountMax=4", "ForwardAgent=no", "ClearAllForwardings=yes", "UpdateHostKeys=no",
            "LogLevel=ERROR",
        ].flatMap { ["-o", $0] }
    }

    private var destination: String { (user.map { "\($0)@" } ?? "") + host }

    /// Runs commands of `sftp`; a line that begins with `-` may fail.
    func sftp(_ lines: [String], deadline: Duration) async throws -> (code: Int32, text: String) {
        let tool = DeliveryTool(name: "sftp", deadline: deadline)
        return try await tool.run(
            ["-F", "/dev/null", "-P", "\(port)"] + options + ["-b", "-", "--", destination],
            input: Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Runs a command there.
    func run(_ command: String, deadline: Duration) async throws -> (code: Int32, text: String) {
        let tool = DeliveryTool(name: "ssh", deadline: deadline)
        return try await tool.run(
            ["-F", "/dev/null", "-T", "-p", "\(port)"] + options + ["--", destination, command])
    }
}
