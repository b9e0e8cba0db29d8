import Foundation
import TestBasics
import TestForge
import Testing

@testable import Delivery

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A real `sshd` on loopback.
@Suite(
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/sshd"), "sshd is needed: script/bootstrap delivery")
)
struct SSHTests {
    @Test(.timeLimit(.minutes(2)))
    func `a version arrives whole, and another attempt changes nothing`() async throws {
        let server = try await Server()
        let release = try await release(
            in: server.folder, ["a.tar.gz": bytes(2 << 20), "My App (1).ipa": bytes(64, 2)])
        let publisher = server.publisher()
        try await publisher.bring(release)
        try await publisher.bring(release)
        try await server.expect(release)
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `an upload that was cut is continued, and a wrong beginning is replaced`() async throws {
        let server = try await Server()
        let whole = bytes(2 << 20)
        let release = try await release(in: server.folder, ["a": whole, "b": bytes(1 << 20, 2), "c": bytes(64, 3)])
        try server.folder.write("out/\(release.partName)/a", whole.prefix(1 << 20))
        try server.folder.write("out/\(release.partName)/b", bytes(1 << 19, 9))
        try server.folder.write("out/\(release.partName)/left", [1])
        try await server.publisher().bring(release)
        try await server.expect(release)
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a release that is withdrawn on its way does not appear`() async throws {
        let server = try await Server()
        let release = try await release(in: server.folder, ["a": bytes(64)])
        #expect(try await server.publisher().failure(release, Withdrawn()) == .conflict)
        #expect(try FileManager.default.contentsOfDirectory(atPath: server.folder["out"]) == [])
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [("", false), ("word", true)])
    func `a key with a passphrase is found before there is a release`(passphrase: String, isRefused: Bool) async throws
    {
        let folder = try TemporaryFolder()
        _ = try await runCommand("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", folder["key"])
        let key = try Data(contentsOf: URL(filePath: folder["key"]))
        let publisher = SSHPublisher(
            host: "ada@127.0.0.1:1", folder: "/out", key: Array(key), knownHost: Array("ssh-ed25519 AAAA".utf8),
            work: folder["work"])
        #expect(try await publisher.checkFailure() == (isRefused ? .refused : nil))
    }

    @Test(.timeLimit(.minutes(2)))
    func `a version with other bytes is a conflict`() async throws {
        let server = try await Server()
        let release = try await release(in: server.folder, ["a": bytes(64)])
        try server.folder.write("out/1.0.0/a", bytes(64, 2))
        // Its own part will never be shown; that of another release stays.
        try server.folder.write("out/\(release.partName)/a", bytes(64))
        try server.folder.write("out/.1.0.0-0123456789ab.part/a", bytes(64))
        #expect(try await server.publisher().failure(release) == .conflict)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: server.folder["out"]))
                == [".1.0.0-0123456789ab.part", "1.0.0"])
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a host with another key, and a key that the host does not know, are refused`() async throws {
        let server = try await Server()
        let release = try await release(in: server.folder, ["a": bytes(64)])
        var publisher = server.publisher()
        let other = try await server.makeKey("other")
        publisher = SSHPublisher(
            host: publisher.host, folder: publisher.folder, key: publisher.key,
            knownHost: Array(try await runCommand("cat", "\(other).pub").utf8), work: publisher.work,
            patience: impatient)
        #expect(try await publisher.failure(release) == .refused)
        publisher = server.publisher(key: Array(FileManager.default.contents(atPath: other) ?? Data()))
        #expect(try await publisher.failure(release) == .refused)
        #expect(!FileManager.default.fileExists(atPath: server.folder["out/1.0.0"]))
        await server.end()
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["-oProxyCommand=id", "host;id", "a b", "user@-x", "h:0"])
    func `what is no host starts nothing`(host: String) async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": [1]])
        let publisher = SSHPublisher(host: host, folder: "/tmp/x", key: [1], knownHost: [1], work: folder["work"])
        #expect(try await publisher.failure(release) == .invalid)
    }
}

private struct Server {
    let folder: TemporaryFolder
    private let child: Child
    private let port: Int
    private let user: String
    private let key: [UInt8]
    private let hostKey: [UInt8]

    init() async throws {
        folder = try TemporaryFolder(.disk)
        port = try await ForgeDouble.freePort()
        user = try await runCommand("id", "-un")
        try folder.folder("out")
        func make(_ name: String, _ path: String) async throws {
            try await runCommand("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path)
        }
        try await make("host", folder["host"])
        try await make("user", folder["user"])
        key = Array(FileManager.default.contents(atPath: folder["user"]) ?? Data())
        hostKey = Array(FileManager.default.contents(atPath: folder["host.pub"]) ?? Data())
        // sshd of root wants the folder, which its service makes.
        if user == "root" {
            try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        }
        try folder.write(
            "config",
            """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(folder["host"])
            AuthorizedKeysFile \(folder["user.pub"])
            StrictModes no
            UsePAM no
            PidFile \(folder["pid"])
            PermitRootLogin prohibit-password
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            Subsystem sftp internal-sftp
            """.utf8)
        // sshd closes every descriptor that it was given, also the one by which Foundation learns of its end: then
        // Foundation's thread for processes would wait for it, and no other process of the tests would end any more.
        child = try Child(
            ["sh", "-c", "\"$@\"; true", "sh", "/usr/sbin/sshd", "-D", "-e", "-f", folder["config"]], in: folder.path,
            output: try folder.folder("said"))
        let port = port
        try await eventually("sshd listens") {
            let found = try await CommandRunner().end(of: ["ssh-keyscan", "-T", "1", "-p", "\(port)", "127.0.0.1"])
            return found.output.contains("ed25519")
        }
    }

    func publisher(key other: [UInt8]? = nil) -> SSHPublisher {
        SSHPublisher(
            host: "\(user)@127.0.0.1:\(port)", folder: folder["out"], key: other ?? key, knownHost: hostKey,
            work: folder["work"], patience: impatient)
    }

    func makeKey(_ name: String) async throws -> String {
        try await runCommand("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder[name])
        return folder[name]
    }

    func expect(_ release: ReleaseContent) async throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["out"]) == [release.version])
        let place = folder["out/\(release.version)"]
        #expect(try await runCommand("diff", "-r", place, folder["release-\(release.version)"]) == "")
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: folder["work"])) ?? []) == [])
    }

    func end() async {
        // The shell ends with its sshd.
        let text = (try? String(contentsOfFile: folder["pid"], encoding: .utf8)) ?? ""
        if let id = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), id > 1 { kill(id, SIGTERM) }
        _ = await child.end
    }
}
