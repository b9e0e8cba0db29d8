import Concurrency
import Foundation
import Results
import SystemPackage

/// Publishes into a folder of a host that ssh reaches: files go into a hidden folder beside, are compared there, and the
/// folder then gets the version's name in one step.
struct SSHPublisher: Publisher {
    let host: String
    /// An absolute path there.
    let folder: String
    let key: [UInt8]
    let knownHost: [UInt8]
    /// Where private files may be.
    let work: String
    var patience = Patience()

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        return try await withHost { host in
            let upload = SSHUpload(host: host, folder: folder, release: release, progress: progress, say: say)
            try await patience.run(say: say) { try await upload.attempt() }
            return Publication(state: .released, address: "\(host.host):\(folder)/\(release.version)")
        }
    }

    func check() async throws { try await withHost { try await $0.checkKey() } }

    private func withHost<Value: Sendable>(_ body: (SSHHost) async throws -> Value) async throws -> Value {
        guard folder.wholeMatch(of: /\/[A-Za-z0-9._+@ \/\-]*/) != nil, !folder.contains("/..") else {
            throw DeliveryProblem(
                .invalid,
                "\"\(PublishedName.shown(folder))\" can't be the folder; write an absolute path of letters, digits, spaces and . _ + @ -"
            )
        }
        return try await PrivateFolder.with(in: work) { files in
            let host = try SSHHost(host, files: files)
            try await offThread {
                try DeliveryProblem.machine("writing the key") { try host.write(key: key, knownHost: knownHost) }
            }
            return try await body(host)
        }
    }
}

/// One upload, which may be attempted again.
struct SSHUpload: Sendable {
    let host: SSHHost
    let folder: String
    let release: ReleaseContent
    let progress: any PublishingProgress
    let say: @Sendable (String) -> Void

    private static let short = Duration.seconds(60)
    private var place: String { "\(folder)/\(release.version)" }
    private var part: String { "\(folder)/\(release.partName)" }

    func attempt() async throws {
        if let there = try await sizes(place) { return try await compare(there) }
        if try await sizes(part) == nil {
            try await orThrow(host.sftp([#"mkdir "\#(part)""#], deadline: Self.short), "making a folder in \(folder)")
        }
        try await upload()
        do { try await progress.confirm() } catch {
            await removePart()
            throw error
        }
        // Fails where the version's folder is there with files: then the next attempt compares.
        try await orThrow(host.sftp([#"rename "\#(part)" "\#(place)""#], deadline: Self.short), "renaming to \(place)")
        say("\(release.files.count) files are in \(place)")
    }

    /// The sizes of the files in a folder, by name; nil if there is no such folder.
    private func sizes(_ path: String) async throws -> [String: Int]? {
        let (code, text) = try await host.sftp([#"ls -lan "\#(path)""#], deadline: Self.short)
        if code != 0 {
            if text.contains("not found") || text.contains("No such file") { return nil }
            throw problem(text, "listing \(path)")
        }
        var found: [String: Int] = [:]
        for line in text.split(whereSeparator: \.isNewline).prefix(10_000) {
            // -rw-r--r--    ? 0        0            1234 Nov 26 11:00 /folder/1.0/name
            guard line.hasPrefix("-"),
                let match = line.firstMatch(of: /^\S+\s+\S+\s+\S+\s+\S+\s+([0-9]+)\s+\S+\s+\S+\s+\S+\s+(.+)$/),
                let size = Int(match.1)
            else { continue }
            found[String(match.2.split(separator: "/").last ?? "")] = size
        }
        return found
    }

    private func compare(_ there: [String: Int]) async throws {
        let digests = try await digests(place)
        var wrong = release.files.filter { there[$0.name] != $0.bytes }.map(\.name)
        if let digests {
            wrong += release.files.filter { digests[$0.name] != $0.sha256 }.map(\.name)
        } else {
            say("the host has no sha256sum, so only sizes were compared")
        }
        wrong += there.keys.filter { name in !release.files.contains { $0.name == name } }
        guard wrong.isEmpty else {
            await removePart()
            throw DeliveryProblem(
                .conflict,
                "\(place) is there with other content (\(PublishedName.shown(wrong.prefix(3).joined(separator: ", ")))); a version is never replaced, so release a new one"
            )
        }
        say("\(place) is there already")
    }

    /// Removes what was uploaded and will never be shown. Without an answer it stays, where nobody sees it.
    private func removePart() async {
        let files = release.files.map { #"-rm "\#(part)/\#($0.name)""# }
        _ = try? await host.sftp(files + [#"-rmdir "\#(part)""#], deadline: Self.short)
    }

    private func upload() async throws {
        let there = try await sizes(part) ?? [:]
        var digests = try await digests(part)
        for name in there.keys.sorted() where !release.files.contains(where: { $0.name == name }) {
            guard (try? PublishedName.file(name)) != nil else {
                throw DeliveryProblem(
                    .conflict, "\(part) has files of somebody else; delete it there, and run the step again")
            }
            try await orThrow(host.sftp([#"rm "\#(part)/\#(name)""#], deadline: Self.short), "deleting what is left")
        }
        for file in release.files where digests?[file.name] != file.sha256 {
            // A shorter file is the beginning of an upload that was cut; without digests nothing of it is trusted.
            let size = there[file.name] ?? 0
            let isBegun = digests != nil && size > 0 && size < file.bytes
            try await put(file, resuming: isBegun)
            if isBegun, try await self.digests(part)?[file.name] != file.sha256 { try await put(file, resuming: false) }
            say("\(file.name) is uploaded: \(file.bytes) bytes\(isBegun ? ", continued at \(size)" : "")")
        }
        digests = try await self.digests(part)
        let sizes = try await sizes(part) ?? [:]
        for file in release.files {
            guard sizes[file.name] == file.bytes, (digests.map { $0[file.name] == file.sha256 }) ?? true else {
                throw DeliveryProblem(.unreachable, "\(file.name) did not arrive whole at \(host.host)")
            }
        }
    }

    private func put(_ file: ReleaseFile, resuming: Bool) async throws {
        guard file.path.wholeMatch(of: /[^"\\*?\[\n\r]+/) != nil else {
            throw DeliveryProblem(
                .machine, "the folder of releases has a path that sftp can't take: \(PublishedName.shown(file.path))")
        }
        let command = resuming ? "reput -f" : "put -f"
        try await orThrow(
            host.sftp(
                [#"\#(command) "\#(file.path)" "\#(part)/\#(file.name)""#],
                deadline: .seconds(120 + (file.bytes >> 17))), "uploading \(file.name)")
    }

    /// The digests of the files in a folder, by name; nil where the host runs no `sha256sum`.
    private func digests(_ path: String) async throws -> [String: String]? {
        // The path has no quotes. `2>/dev/null` hides that an empty folder has no files.
        let command = "cd '\(path)' && command -v sha256sum >/dev/null && echo digests && sha256sum -- * 2>/dev/null; :"
        let (code, text) = try await host.run(command, deadline: .seconds(600))
        if code == 255 { throw problem(text, "comparing") }
        guard code == 0, text.contains("digests") else { return nil }
        var found: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline).prefix(10_000) {
            if let match = line.wholeMatch(of: /([0-9a-f]{64}) [ *](.+)/) { found[String(match.2)] = String(match.1) }
        }
        return found
    }

    private func orThrow(_ result: (code: Int32, text: String), _ what: String) throws {
        guard result.code == 0 else { throw problem(result.text, what) }
    }

    private func problem(_ text: String, _ what: String) -> DeliveryProblem {
        let said = DeliveryTool.lastLine(text)
        if text.contains("Permission denied") {
            return DeliveryProblem(
                .refused,
                "\(what) at \(host.host) is not allowed: \(said); check the key, its user and the folder's owner")
        }
        if text.contains("Host key verification failed") || text.contains("HOST IDENTIFICATION HAS CHANGED") {
            return DeliveryProblem(
                .refused,
                "\(host.host) has not the key that the secret names; check the host, then store its line of known_hosts"
            )
        }
        if text.contains("No such file") || text.contains("not found") {
            return DeliveryProblem(.invalid, "\(what) at \(host.host) failed: \(said); make the folder \(folder) there")
        }
        if text.contains("error in libcrypto") || text.contains("invalid format") {
            return DeliveryProblem(.refused, "the secret with the key for \(host.host) is not a private key of ssh")
        }
        return DeliveryProblem(.unreachable, "\(what) at \(host.host) failed: \(said)")
    }
}
