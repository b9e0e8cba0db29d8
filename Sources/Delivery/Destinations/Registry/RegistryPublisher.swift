import AsyncHTTPClient
import Crypto
import ForgeConnection
import Foundation
import Results
import NIOCore
import NIOHTTP1
import SystemPackage

/// Publishes the files as one artifact of an OCI registry, with the version as its tag.
struct RegistryPublisher: Publisher {
    /// As in `https://ghcr.io/owner/name`.
    let repository: String
    /// `USER:PASSWORD`.
    let credentials: [UInt8]?
    /// Larger files are uploaded in pieces of this many bytes.
    var piece = 16 << 20
    var patience = Patience()

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        // A tag has no `+`, and `~` is none of its characters either.
        let tag = release.version.replacing("+", with: "_").replacing("~", with: "_")
        return try await use { client in
            let upload = RegistryUpload(
                client: client, release: release, tag: tag, piece: piece, progress: progress, say: say)
            let digest = try await patience.run(say: say) { try await upload.attempt() }
            let name = repository.replacing(/^https?:\/\//, with: "")
            return Publication(
                state: .released, address: "\(name):\(tag)", install: "oras pull \(name):\(tag)@\(digest)")
        }
    }

    func check() async throws { try await use { _ in } }

    private func use<Value: Sendable>(_ body: (RegistryClient) async throws -> Value) async throws -> Value {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(60)))
        configuration.connectionPool.idleTimeout = .seconds(30)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(try RegistryClient(repository, credentials: credentials, http: http))
            try? await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}

/// One upload, which may be attempted again.
struct RegistryUpload: Sendable {
    static let manifestType = "application/vnd.oci.image.manifest.v1+json"
    static let artifactType = "application/vnd.pipectl.release.v1"
    private static let empty = Array("{}".utf8)

    let client: RegistryClient
    let release: ReleaseContent
    let tag: String
    let piece: Int
    let progress: any PublishingProgress
    let say: @Sendable (String) -> Void

    /// - Returns: The digest of the manifest.
    func attempt() async throws -> String {
        let manifest = try manifest()
        let digest = Self.digest(manifest)
        if let there = try await digestOfTag() {
            guard there == digest else {
                throw DeliveryProblem(
                    .conflict,
                    "the tag \(tag) of \(client.name) has other content (\(PublishedName.shown(there))); a version is never replaced, so release a new one"
                )
            }
            say("\(client.name):\(tag) is there already")
            return digest
        }
        try await push(Self.empty, digest: Self.digest(Self.empty))
        for file in release.files { try await push(file) }
        try await progress.confirm()
        let answer = try await client.send(
            .PUT, client.address("manifests/\(tag)"), headers: [("Content-Type", Self.manifestType)], bytes: manifest)
        try expect(answer, [201], "storing the manifest")
        guard try await digestOfTag() == digest else {
            throw DeliveryProblem(.unreachable, "the registry took the manifest and does not show it yet")
        }
        say("\(client.name):\(tag) is published as \(digest)")
        return digest
    }

    /// The same bytes for the same release: an interrupted upload is recognised by their digest.
    private func manifest() throws -> [UInt8] {
        struct Part: Encodable {
            var mediaType: String, digest: String, size: Int
            var annotations: [String: String]?
        }
        struct Manifest: Encodable {
            var schemaVersion = 2
            var mediaType = RegistryUpload.manifestType
            var artifactType = RegistryUpload.artifactType
            var config: Part
            var layers: [Part]
            var annotations: [String: String]
        }
        let manifest = Manifest(
            config: Part(
                mediaType: "application/vnd.oci.empty.v1+json", digest: Self.digest(Self.empty), size: Self.empty.count),
            layers: release.files.map {
                Part(
                    mediaType: "application/octet-stream", digest: "sha256:\($0.sha256)", size: $0.bytes,
                    annotations: ["org.opencontainers.image.title": $0.name])
            },
            annotations: [
                "org.opencontainers.image.created": release.committedAt.formatted(.iso8601),
                "org.opencontainers.image.revision": release.commit,
                "org.opencontainers.image.version": release.version,
            ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(manifest))
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        "sha256:" + SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    /// The digest of what the tag names, of the bytes themselves; nil if there is no such tag.
    private func digestOfTag() async throws -> String? {
        let types = [
            Self.manifestType, "application/vnd.oci.image.index.v1+json",
            "application/vnd.docker.distribution.manifest.v2+json",
            "application/vnd.docker.distribution.manifest.list.v2+json",
        ]
        let answer = try await client.send(
            .GET, client.address("manifests/\(tag)"), headers: [("Accept", types.joined(separator: ", "))])
        if answer.status == 404 { return nil }
        try expect(answer, [200], "reading the tag \(tag)")
        return Self.digest(Array(answer.body))
    }

    private func isThere(_ digest: String, bytes: Int) async throws -> Bool {
        let answer = try await client.send(.HEAD, client.address("blobs/\(digest)"))
        // A registry whose blobs are in the storage of a cloud says where to read one that it has.
        if [200, 302, 303, 307, 308].contains(answer.status) { return true }
        try expect(answer, [404], "looking for \(digest)")
        return false
    }

    private func push(_ bytes: [UInt8], digest: String) async throws {
        if try await isThere(digest, bytes: bytes.count) { return }
        let place = try await begin()
        let answer = try await client.send(
            .PUT, Self.with(digest, place), headers: [("Content-Type", "application/octet-stream")], bytes: bytes)
        try expect(answer, [201], "uploading the configuration")
    }

    private func begin() async throws -> String {
        let address = client.address("blobs/uploads/")
        let answer = try await client.send(.POST, address, headers: [("Content-Length", "0")], bytes: [])
        try expect(answer, [202], "beginning an upload")
        return try client.resolved(answer.headers.first(name: "location"), from: address)
    }

    private func push(_ file: ReleaseFile) async throws {
        let digest = "sha256:\(file.sha256)"
        if try await isThere(digest, bytes: file.bytes) { return }
        let key = "upload \(file.sha256)"
        if file.bytes <= piece {
            let answer = try await client.send(
                .PUT, Self.with(digest, try await begin()), headers: [("Content-Type", "application/octet-stream")],
                body: FileBytes(.init(file.path), length: file.bytes))
            try expect(answer, [201], "uploading \(file.name)")
        } else {
            try await pushInPieces(file, digest, key)
        }
        try await progress.set(key, to: nil)
        say("\(file.name) is uploaded: \(file.bytes) bytes")
    }

    /// Uploads in pieces, and goes on where an earlier attempt was interrupted.
    private func pushInPieces(_ file: ReleaseFile, _ digest: String, _ key: String) async throws {
        var place: String
        var sent = 0
        if let known = try await progress.value(key), let (there, count) = try await begun(known) {
            (place, sent) = (there, min(count, file.bytes))
            say("\(file.name): going on at byte \(sent)")
        } else {
            place = try await begin()
            try await progress.set(key, to: place)
        }
        while sent < file.bytes {
            let count = min(piece, file.bytes - sent)
            let answer = try await client.send(
                .PATCH, place,
                headers: [
                    ("Content-Type", "application/octet-stream"), ("Content-Range", "\(sent)-\(sent + count - 1)"),
                ], body: FileBytes(.init(file.path), from: sent, length: count))
            if answer.status == 416 || answer.status == 404 {
                // The registry has another state of it than we think; the next attempt asks, or begins anew.
                if answer.status == 404 { try await progress.set(key, to: nil) }
                throw DeliveryProblem(.unreachable, "the registry has lost its place in the upload of \(file.name)")
            }
            try expect(answer, [202], "uploading \(file.name)")
            place = try client.resolved(answer.headers.first(name: "location"), from: place)
            try await progress.set(key, to: place)
            sent += count
        }
        let answer = try await client.send(.PUT, Self.with(digest, place), bytes: [])
        if answer.status != 201 { try await progress.set(key, to: nil) }
        try expect(answer, [201], "ending the upload of \(file.name)")
    }

    /// How far an upload has got; nil if the registry does not know it any more.
    private func begun(_ place: String) async throws -> (String, Int)? {
        let answer = try await client.send(.GET, try client.resolved(place, from: place))
        guard answer.status == 204 else { return nil }
        let next = try client.resolved(answer.headers.first(name: "location") ?? place, from: place)
        guard let range = answer.headers.first(name: "range"),
            let last = range.split(separator: "-").last.flatMap({ Int($0) })
        else { return (next, 0) }
        // `0-0` is what registries say before the first byte, too.
        return (next, last == 0 ? 0 : last + 1)
    }

    private static func with(_ digest: String, _ place: String) -> String {
        "\(place)\(place.contains("?") ? "&" : "?")digest=\(digest.replacing(":", with: "%3A"))"
    }

    private func expect(_ answer: RegistryAnswer, _ wanted: [Int], _ what: String) throws {
        guard !wanted.contains(answer.status) else { return }
        throw DeliveryProblem(
            .invalid, "\(what) failed at the registry: \(answer.status)\(RegistryClient.message(answer.body))")
    }
}
