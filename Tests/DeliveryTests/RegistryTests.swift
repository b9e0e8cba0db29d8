import Foundation
import Results
import Synchronization
import TestBasics
import TestForge
import Testing

@testable import Delivery

/// A registry that keeps its blobs elsewhere.
struct RegistryRedirectTests {
    @Test(.timeLimit(.minutes(1)), arguments: [302, 303, 307, 308])
    func `a blob to which the registry redirects is there, and nobody goes there`(status: Int) async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": bytes(64)])
        let manifest = Mutex<String?>(nil)
        let server = try await ForgeDouble { request in
            switch request.method {
            case "HEAD": return .json(status, "", headers: ["location": "/elsewhere"])
            case "PUT":
                manifest.withLock { $0 = request.body }
                return .json(201, "")
            default: return manifest.withLock { $0 }.map { .json(200, $0) } ?? .json(404, "{}")
            }
        }
        try await RegistryPublisher(repository: "\(server.url)/octo/hello", credentials: nil, patience: impatient)
            .bring(release)
        #expect(manifest.withLock { $0 }?.contains(release.files[0].sha256) == true)
        #expect(!server.requests.contains { $0.path.contains("elsewhere") || $0.method == "POST" })
        try await server.close()
    }
}

/// The registry of the distribution project, on loopback.
@Suite(
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/bin/docker-registry"),
        "docker-registry is needed: script/bootstrap delivery"))
struct RegistryTests {
    @Test(.timeLimit(.minutes(2)), arguments: [nil, "hello:secret"])
    func `a release is an artifact whose blobs have its digests`(credentials: String?) async throws {
        let server = try await Registry(credentials)
        let release = try await release(
            "1.0.0+7", in: server.folder, ["a.tar.gz": bytes(3 << 20), "b": bytes(64, 2), "c": bytes(1 << 20, 3)])
        let publisher = server.publisher(credentials)
        let published = try await publisher.bring(release)
        #expect(try await publisher.bring(release) == published)
        for file in release.files {
            let content = try await server.get("blobs/sha256:\(file.sha256)", credentials)
            #expect(content == FileManager.default.contents(atPath: file.path))
        }
        let manifest = String(decoding: try await server.get("manifests/1.0.0_7", credentials), as: UTF8.self)
        #expect(manifest.contains(#""artifactType":"application/vnd.pipectl.release.v1""#))
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `an upload goes on where the attempt before was killed`() async throws {
        let server = try await Registry(nil)
        let release = try await release(in: server.folder, ["a": bytes(4 << 20)])
        let notes = Notes()
        // The first attempt ends right after its fourth note, at which three pieces are there.
        let first = server.publisher(nil, piece: 1 << 18)
        await #expect(throws: CancellationError.self) {
            _ = try await first.publish(release, progress: Ending(notes: notes, after: 4)) { _ in }
        }
        #expect(notes.all.keys.contains { $0.hasPrefix("upload ") })
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        _ = try await server.publisher(nil, piece: 1 << 18).publish(release, progress: notes) { line.yield($0) }
        line.finish()
        var isContinued = false
        for await text in lines { isContinued = isContinued || text.contains("going on at byte") }
        #expect(isContinued)
        #expect(try await server.get("blobs/sha256:\(release.files[0].sha256)", nil).count == 4 << 20)
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a release that is withdrawn on its way has no tag`() async throws {
        let server = try await Registry(nil)
        let release = try await release(in: server.folder, ["a": bytes(64)])
        #expect(try await server.publisher(nil).failure(release, Withdrawn()) == .conflict)
        // The file is there, and nothing names it.
        #expect(try await server.status("blobs/sha256:\(release.files[0].sha256)") == 200)
        #expect(try await server.status("manifests/1.0.0") == 404)
        #expect(try await server.publisher(nil).bring(release).state == .released)
        await server.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a tag with other content is a conflict, and wrong credentials are refused`() async throws {
        let server = try await Registry("hello:secret")
        let publisher = server.publisher("hello:secret")
        let first = try await release(in: server.folder, ["a": bytes(64)])
        try await publisher.bring(first)
        let before = try await server.get("manifests/1.0.0", "hello:secret")
        let other = try await release(in: server.folder, ["a": bytes(64, 2)])
        #expect(try await publisher.failure(other) == .conflict)
        #expect(try await server.get("manifests/1.0.0", "hello:secret") == before)
        #expect(try await server.publisher("hello:wrong").failure(first) == .refused)
        #expect(try await server.publisher(nil).failure(first) == .refused)
        await server.end()
    }
}

/// Notes of a publisher that is ended by one of them.
private final class Ending: PublishingProgress {
    private let notes: Notes
    private let left: Mutex<Int>

    init(notes: Notes, after count: Int) {
        self.notes = notes
        left = Mutex(count)
    }

    func value(_ key: String) async throws -> String? { try await notes.value(key) }

    func set(_ key: String, to value: String?) async throws {
        try await notes.set(key, to: value)
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { throw CancellationError() }
    }
}

private struct Registry {
    let folder: TemporaryFolder
    private let child: Child
    private let port: Int

    /// - Parameter credentials: Who may enter; nil: everybody.
    init(_ credentials: String?) async throws {
        folder = try TemporaryFolder(.disk)
        port = try await ForgeDouble.freePort()
        var config = """
            version: 0.1
            log: {level: error}
            storage: {filesystem: {rootdirectory: \(folder["data"])}}
            http: {addr: "127.0.0.1:\(port)"}

            """
        if credentials != nil {
            // `hello:secret`, by bcrypt.
            try folder.write("users", "hello:\(Self.hash)\n".utf8)
            config += "auth: {htpasswd: {realm: hello, path: \(folder["users"])}}\n"
        }
        try folder.write("config.yml", config.utf8)
        child = try Child(
            ["docker-registry", "serve", folder["config.yml"]], in: folder.path, output: try folder.folder("said"))
        let port = port
        try await eventually("the registry listens") {
            try await CommandRunner().end(of: ["curl", "-s", "-o", "/dev/null", "http://127.0.0.1:\(port)/v2/"]).code
                == 0
        }
    }

    private static let hash = "$2y$04$R8kgWBuXQq62JssvGDfTfOZ3czhHeEIk0aNhaHDhX6voy0S1w9vr6"

    func publisher(_ credentials: String?, piece: Int = 1 << 20) -> RegistryPublisher {
        RegistryPublisher(
            repository: "http://127.0.0.1:\(port)/octo/hello", credentials: credentials.map { Array($0.utf8) },
            piece: piece, patience: impatient)
    }

    func get(_ path: String, _ credentials: String?) async throws -> Data {
        let file = folder["got"]
        let user = credentials.map { ["-u", $0] } ?? []
        let ended = try await CommandRunner().end(
            of: ["curl", "-sf", "-o", file, "-H", "Accept: application/vnd.oci.image.manifest.v1+json"] + user
                + ["http://127.0.0.1:\(port)/v2/octo/hello/\(path)"])
        try #require(ended.code == 0)
        return FileManager.default.contents(atPath: file) ?? Data()
    }

    /// The status with which the registry answers to everybody.
    func status(_ path: String) async throws -> Int? {
        Int(
            try await runCommand(
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                "Accept: application/vnd.oci.image.manifest.v1+json", "http://127.0.0.1:\(port)/v2/octo/hello/\(path)"))
    }

    func end() async {
        child.signal(SIGTERM)
        _ = await child.end
    }
}
