import Foundation
import TestBasics
import Testing

@testable import Delivery

/// A real `apt-get` reads the repository.
@Suite(
    .enabled(
        if: succeeds(["dpkg-deb", "--version"]) && succeeds(["apt-get", "--version"])
            && succeeds(["gpg", "--version"]),
        "dpkg-deb, apt-get and gpg are needed"))
struct AptTests {
    @Test(.timeLimit(.minutes(3)))
    func `apt-get verifies the repository and finds both versions`() async throws {
        let folder = try TemporaryFolder(.disk)
        let publisher = try await Self.publisher(folder)
        let first = try await Self.release("1.0", folder)
        try await publisher.bring(first)
        try await publisher.bring(try await Self.release("1.1", folder))
        let apt = try await Self.client(folder)
        _ = try await Self.passes(apt, ["update"])
        let policy = try await CommandRunner(environment: apt.environment).end(of: ["apt-cache", "madison", "hello"])
        #expect(policy.output.contains("1.0") && policy.output.contains("1.1"))
        _ = try await Self.passes(apt, ["download", "hello=1.0"])
        let got = FileManager.default.contents(atPath: apt.folder + "/hello_1.0_all.deb")
        #expect(got == FileManager.default.contents(atPath: first.files[0].path))
        // The same once more, later: nothing has other bytes, and nothing is signed anew.
        let before = try await Self.digests(folder)
        var later = publisher
        later.now = { Date() + 86_400 }
        try await later.bring(first)
        #expect(try await Self.digests(folder) == before)
    }

    @Test(.timeLimit(.minutes(3)))
    func `a key that can't sign, and a bad option, are found before there is a release`() async throws {
        let folder = try TemporaryFolder(.disk)
        var publisher = try await Self.publisher(folder)
        #expect(try await publisher.checkFailure() == nil)
        publisher.suite = "a b"
        #expect(try await publisher.checkFailure() == .invalid)
        let other = try TemporaryFolder(.disk)
        #expect(try await Self.publisher(other, key: "rsa2048 encr never").checkFailure() == .refused)
        let none = AptPublisher(
            folder: folder["repo"], suite: "stable", component: "main", key: Array("no key".utf8), work: folder["work"])
        #expect(try await none.checkFailure() == .refused)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["work"]) == [])
        #expect(!FileManager.default.fileExists(atPath: folder["repo"]))
    }

    @Test(.timeLimit(.minutes(3)))
    func `steps that publish at the same time lose no package`() async throws {
        let folder = try TemporaryFolder(.disk)
        let publisher = try await Self.publisher(folder)
        let releases = try await [
            Self.release("1.0", folder), Self.release("1.1", folder), Self.release("1.2", folder),
            Self.release("1.3", folder),
        ]
        try await withThrowingTaskGroup { group in
            for release in releases { group.addTask { try await publisher.bring(release) } }
            try await group.waitForAll()
        }
        let apt = try await Self.client(folder)
        _ = try await Self.passes(apt, ["update"])
        let policy = try await CommandRunner(environment: apt.environment).end(of: ["apt-cache", "madison", "hello"])
        for release in releases { #expect(policy.output.contains(release.version)) }
    }

    @Test(.timeLimit(.minutes(3)))
    func `compressed lists are there, also by their digests`() async throws {
        let folder = try TemporaryFolder(.disk)
        try await Self.publisher(folder).bring(try await Self.release("1.0", folder))
        let dists = folder["repo/dists/stable"]
        let plain = try await runCommand("cat", "\(dists)/main/binary-all/Packages")
        #expect(plain.contains("Package: hello"))
        #expect(try await runCommand("gzip", "-dc", "\(dists)/main/binary-all/Packages.gz") == plain)
        let sums = try String(contentsOfFile: "\(dists)/Release", encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix(" ")
        }.map { $0.split(separator: " ").map(String.init) }
        #expect(sums.map(\.[2]) == ["main/binary-all/Packages", "main/binary-all/Packages.gz"])
        for sum in sums {
            let file = "\(dists)/\(sum[2])"
            #expect(try await runCommand("sha256sum", file).hasPrefix(sum[0]))
            let same = FileManager.default.contents(atPath: "\(dists)/main/binary-all/by-hash/SHA256/\(sum[0])")
            #expect(same == FileManager.default.contents(atPath: file))
        }
        let apt = try await Self.client(folder)
        _ = try await Self.passes(apt, ["-o", "Acquire::GzipIndexes=true", "update"])
        #expect(try await Self.passes(apt, ["download", "hello=1.0"]).isEmpty == false)
    }

    @Test(.timeLimit(.minutes(3)))
    func `lists that are valid for a time are signed anew after half of it, and refused after it`() async throws {
        let folder = try TemporaryFolder(.disk)
        var publisher = try await Self.publisher(folder)
        publisher.validForDays = 10
        let (release, start) = (try await Self.release("1.0", folder), Date())
        func bring(_ days: Double) async throws {
            publisher.now = { start + days * 86_400 }
            try await publisher.bring(release)
        }
        try await bring(-30)
        let apt = try await Self.client(folder)
        let expired = try await CommandRunner(in: apt.folder, environment: apt.environment).end(
            of: ["apt-get", "-o", "APT::Update::Error-Mode=any", "update"])
        #expect(expired.code != 0)
        try await bring(-4)
        _ = try await Self.passes(apt, ["update"])
        let before = try await Self.digests(folder)
        try await bring(0.9)
        #expect(try await Self.digests(folder) == before)
        try await bring(1.1)
        #expect(try await Self.digests(folder) != before)
        publisher.validForDays = nil
        try await bring(1.2)
        #expect(
            try String(contentsOfFile: folder["repo/dists/stable/Release"], encoding: .utf8).contains("Valid") == false)
    }

    private static func digests(_ folder: TemporaryFolder) async throws -> String {
        try await runCommand("sh", "-c", "cd '\(folder["repo"])' && find . -type f -exec sha256sum {} + | sort")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a release that is withdrawn on its way is in no list, and not in the next one's either`() async throws {
        let folder = try TemporaryFolder(.disk)
        let publisher = try await Self.publisher(folder)
        let releases = try await [Self.release("1.0", folder), Self.release("1.1", folder)]
        #expect(try await publisher.failure(releases[0], Withdrawn()) == .conflict)
        #expect(!FileManager.default.fileExists(atPath: folder["repo/dists/stable/InRelease"]))
        try await publisher.bring(releases[1])
        let list = try String(contentsOfFile: folder["repo/dists/stable/main/binary-all/Packages"], encoding: .utf8)
        #expect(DebianPackage.all(in: list).map(\.version) == ["1.1"])
    }

    @Test(.timeLimit(.minutes(3)))
    func `a package of the same version with other bytes is a conflict`() async throws {
        let folder = try TemporaryFolder(.disk)
        let publisher = try await Self.publisher(folder)
        try await publisher.bring(try await Self.release("1.0", folder))
        let other = try await Self.release("1.0", folder, note: "other")
        #expect(try await publisher.failure(other) == .conflict)
    }

    @Test(.timeLimit(.minutes(3)))
    func `a repository whose last steps were lost is completed, and apt-get refuses one that was changed`() async throws
    {
        let folder = try TemporaryFolder(.disk)
        let publisher = try await Self.publisher(folder)
        let release = try await Self.release("1.0", folder)
        try await publisher.bring(release)
        let dists = folder["repo/dists/stable"]
        for name in ["Release", "InRelease", "main/binary-all/Packages"] {
            try FileManager.default.removeItem(atPath: "\(dists)/\(name)")
            try await publisher.bring(release)
            let apt = try await Self.client(folder)
            _ = try await Self.passes(apt, ["update"])
            #expect(FileManager.default.fileExists(atPath: "\(dists)/\(name)"))
        }
        let text = try String(contentsOfFile: "\(dists)/InRelease", encoding: .utf8)
        try text.replacing("Origin: pipectl", with: "Origin: pipecti").write(
            toFile: "\(dists)/InRelease", atomically: true, encoding: .utf8)
        let apt = try await Self.client(folder)
        let refused = try await CommandRunner(in: apt.folder, environment: apt.environment).end(
            of: ["apt-get", "-o", "APT::Update::Error-Mode=any", "update"])
        #expect(refused.code != 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a secret that is no key is refused`() async throws {
        let folder = try TemporaryFolder(.disk)
        let publisher = AptPublisher(
            folder: folder["repo"], suite: "stable", component: "main", key: Array("no key".utf8), work: folder["work"])
        #expect(try await publisher.failure(try await Self.release("1.0", folder)) == .refused)
    }

    private static func publisher(
        _ folder: TemporaryFolder, key: String = "ed25519 sign never"
    ) async throws -> AptPublisher {
        let home = try folder.folder("g")
        let key = try await runCommand(
            "sh", "-c",
            "chmod 700 '\(home)' && export GNUPGHOME='\(home)' && gpg -q --batch --passphrase '' --quick-generate-key 'Hello <hello@example.org>' \(key) && gpg --batch --armor --export-secret-keys; gpgconf --kill all"
        )
        return AptPublisher(
            folder: folder["repo"], suite: "stable", component: "main", key: Array(key.utf8), work: folder["work"])
    }

    /// A release with one package.
    private static func release(_ version: String, _ folder: TemporaryFolder, note: String = "hello") async throws
        -> ReleaseContent
    {
        let tree = "deb-\(version)-\(note)"
        try folder.write("\(tree)/usr/share/hello/note", note.utf8)
        let control =
            "Package: hello\nVersion: \(version)\nArchitecture: all\nMaintainer: Hello <hello@example.org>\nDescription: greets\n It greets.\n"
        try folder.write("\(tree)/DEBIAN/control", control.utf8)
        let name = "hello_\(version)_all.deb"
        try await runCommand("dpkg-deb", "--root-owner-group", "-b", folder[tree], folder["\(tree).deb"])
        let content = FileManager.default.contents(atPath: folder["\(tree).deb"]) ?? Data()
        return try await DeliveryTests.release("\(version)", in: folder, [name: Array(content)])
    }

    private struct Apt {
        var folder: String
        var environment: [String: String]
    }

    /// An apt of its own, which no root is needed for.
    private static func client(_ folder: TemporaryFolder) async throws -> Apt {
        let root = try folder.folder("apt")
        for name in ["lists/partial", "cache/archives/partial", "etc"] { try folder.folder("apt/\(name)") }
        try folder.write(
            "apt/sources.list", "deb [signed-by=\(folder["repo/key.gpg"])] file:\(folder["repo"]) stable main\n".utf8)
        try folder.write("apt/status", [])
        try folder.write(
            "apt/apt.conf",
            """
            Dir::Etc::sourcelist "\(root)/sources.list"; Dir::Etc::sourceparts "-"; Dir::Etc::parts "-"; Dir::Etc::main "-";
            Dir::State::lists "\(root)/lists"; Dir::State::status "\(root)/status"; Dir::Cache "\(root)/cache";
            APT::Sandbox::User "root"; Debug::NoLocking "true"; APT::Architecture "amd64"; Dir::Etc::trustedparts "-";
            """.utf8)
        var environment = ProcessInfo.processInfo.environment
        environment["APT_CONFIG"] = "\(root)/apt.conf"
        environment["LC_ALL"] = "C"
        return Apt(folder: root, environment: environment)
    }

    private static func passes(_ apt: Apt, _ words: [String]) async throws -> String {
        let ended = try await CommandRunner(in: apt.folder, environment: apt.environment).end(
            of: ["apt-get", "-o", "APT::Update::Error-Mode=any"] + words)
        try #require(ended.code == 0, "\(ended.output)\(ended.errors)")
        return ended.output
    }
}
