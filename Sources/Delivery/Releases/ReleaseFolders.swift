import Crypto
import Foundation
import Pipeline
package import Results

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folders with the files of releases: one for each release, whole or not there.
package struct ReleaseFolders: Sendable {
    /// Absolute.
    let root: String

    package init(_ root: String) { self.root = root }

    /// The folder of a release. The commit is part of its name, so that no two releases share one.
    package func folder(of version: String, commit: String, repository: String) -> String {
        "\(root)/\(Self.name(of: repository))/\(version)-\(commit.prefix(12))"
    }

    package func folder(of release: ReleaseRecord) -> String {
        folder(of: release.version, commit: release.commit, repository: release.repository)
    }

    /// Makes the folder of a release: `fill` writes its files, then it appears at once.
    ///
    /// A folder that a crash has left before its release was recorded is replaced. It blocks.
    ///
    /// - Throws: What `fill` throws; `Errno`-like ``DeliveryProblem`` for the disk.
    func make(_ path: String, _ fill: (String) throws -> Void) throws {
        let parent = (path as NSString).deletingLastPathComponent
        let temporary = "\(parent)/.new-\(UInt64.random(in: .min ... .max))"
        try onDisk("make", parent) {
            try FileManager.default.createDirectory(
                atPath: temporary, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        do {
            try fill(temporary)
            try flush(temporary)
            try? FileManager.default.removeItem(atPath: path)
            try check(rename(temporary, path), "make", path)
            try flush(parent)
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// Writes a file in a folder, durably and at once: a reader sees all of it or what was there before. It blocks.
    func write(_ bytes: Data, _ name: String, in folder: String) throws {
        let temporary = "\(folder)/.\(UInt64.random(in: .min ... .max))"
        do {
            try onDisk("write", "\(folder)/\(name)") { try bytes.write(to: URL(fileURLWithPath: temporary)) }
            try flush(temporary)
            try check(rename(temporary, "\(folder)/\(name)"), "write", "\(folder)/\(name)")
            try flush(folder)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Copies a file, and checks that it is the one that is meant. It blocks.
    func copy(_ file: ReleaseFile, to folder: String) throws {
        let target = "\(folder)/\(file.name)"
        try onDisk("copy", file.path) { try FileManager.default.copyItem(atPath: file.path, toPath: target) }
        try onDisk("copy", target) {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
        }
        guard try Self.file(target).sha256 == file.sha256 else {
            throw DeliveryProblem(
                .machine,
                "\(file.name) has other bytes than the step left: check the disk with `pipectl archive verify`")
        }
        try flush(target)
    }

    /// The files in a folder of a release, by name. It blocks.
    package static func files(in folder: String) throws -> [ReleaseFile] {
        let names = try onDisk("read", folder) { try FileManager.default.contentsOfDirectory(atPath: folder) }
        return try names.filter { !$0.hasPrefix(".") }.sorted().map { try file("\(folder)/\($0)") }
    }

    /// A file, with its size and digest. It blocks.
    static func file(_ path: String) throws -> ReleaseFile {
        let handle = try onDisk("read", path) { try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) }
        defer { try? handle.close() }
        var digest = SHA256()
        var bytes = 0
        while let chunk = try onDisk("read", path, { try handle.read(upToCount: 1 << 20) }), !chunk.isEmpty {
            digest.update(data: chunk)
            bytes += chunk.count
        }
        return ReleaseFile(
            name: (path as NSString).lastPathComponent, path: path, bytes: bytes,
            sha256: digest.finalize().map { String(format: "%02x", $0) }.joined())
    }

    /// A repository's name as the name of one folder.
    private static func name(of repository: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        let name = repository.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return name.isEmpty ? "_" : name
    }

    private func flush(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try check(file < 0 ? -1 : 0, "open", path)
        defer { close(file) }
        try check(fsync(file), "write", path)
    }

    private func check(_ result: Int32, _ verb: String, _ path: String) throws {
        guard result != 0 else { return }
        throw Self.failure(verb, path, String(cString: strerror(errno)))
    }

    private func onDisk<Value>(_ verb: String, _ path: String, _ body: () throws -> Value) throws -> Value {
        try Self.onDisk(verb, path, body)
    }

    private static func onDisk<Value>(_ verb: String, _ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw failure(verb, path, error.localizedDescription) }
    }

    private static func failure(_ verb: String, _ path: String, _ why: String) -> DeliveryProblem {
        DeliveryProblem(.machine, "could not \(verb) \"\(path)\": \(why). Check its owner and the free space.")
    }
}
