internal import Crypto
public import Results
public import Store
internal import TerminalText
internal import Foundation
internal import Pipeline

/// Copies artifacts of a run out of the state folder, under the names that the steps gave them.
///
/// The code under test chose these names: none may lead out of the folder, and no link in it is followed.
public struct ArtifactExport: Sendable {
    /// The result for one artifact.
    public struct Copied: Sendable, Equatable, Codable {
        /// The path that the step gave it.
        public var path: String
        /// The path of the copy.
        public var file: String
        /// Its size.
        public var bytes: Int
        /// The digest of its content, 64 hexadecimal digits.
        public var sha256: String
        /// Whether the same bytes were there already.
        public var wasThere: Bool
    }

    /// The absolute path of the folder for the copies. It is made if it is missing.
    public let folder: String
    /// Whether existing files are replaced.
    public let overwrites: Bool

    public init(folder: String, overwrites: Bool) {
        self.folder = folder
        self.overwrites = overwrites
    }

    /// The artifacts whose path matches a glob, or whose file name is the pattern; nil: all.
    ///
    /// - Throws: `.badArtifact` for a pattern that can't be read or matches nothing, and for two artifacts with the
    ///   same path and different bytes.
    public static func select(
        _ artifacts: [ArtifactRecord], matching pattern: String?, step: String?, of run: RunID
    ) throws(ArchiveError) -> [ArtifactRecord] {
        var chosen = artifacts.filter { step == nil || $0.step == step }
        if let pattern {
            let glob: Glob
            do { glob = try Glob(pattern) } catch {
                throw ArchiveError(.badArtifact, "The pattern \"\(pattern)\" can't be read: \(error)", run: run)
            }
            chosen = chosen.filter {
                glob.matches($0.path) || $0.path.split(separator: "/").last.map(String.init) == pattern
            }
        }
        guard !chosen.isEmpty else {
            let what = pattern.map { "that \"\($0)\" matches" } ?? "kept"
            throw ArchiveError(
                .badArtifact, "Run \(run) has no artifact \(what). `pipectl artifacts list \(run)` lists all.", run: run
            )
        }
        var byPath: [String: ArtifactRecord] = [:]
        for artifact in chosen {
            guard let other = byPath[artifact.path] else {
                byPath[artifact.path] = artifact
                continue
            }
            if other.sha256 != artifact.sha256 {
                throw ArchiveError(
                    .badArtifact,
                    "Steps \(other.step.shellWord) and \(artifact.step.shellWord) of run \(run) both made "
                        + "\(TerminalText.name(artifact.path)). Name one with --step.", run: run)
            }
        }
        return byPath.values.sorted { $0.path < $1.path }
    }

    /// Checks that all of these can be written, and writes nothing. Blocks.
    ///
    /// - Throws: `.badArtifact` for a name that is not safe, for an existing file with other bytes that must not be
    ///   replaced, and for two artifacts of which one is a folder of the other.
    public func check(_ artifacts: [ArtifactRecord]) throws(ArchiveError) {
        let paths = Set(artifacts.map(\.path))
        for artifact in artifacts {
            let parts = try parts(of: artifact)
            var path = ""
            var isNew = false
            for part in parts.dropLast() {
                path += path.isEmpty ? part : "/" + part
                guard !paths.contains(path) else {
                    throw ArchiveError(
                        .badArtifact,
                        "The artifact \(TerminalText.name(path)) would be a file and the folder of "
                            + "\(TerminalText.name(artifact.path)). Name one of them with a pattern or --step.")
                }
                var status = stat()
                isNew = isNew || lstat("\(folder)/\(path)", &status) != 0
                guard isNew || status.st_mode & S_IFMT == S_IFDIR else {
                    throw ArchiveError(
                        .badArtifact, "\"\(folder)/\(path)\" is not a folder. --output names another one.")
                }
            }
            if !isNew { _ = try isThere(artifact, at: "\(folder)/\(artifact.path)") }
        }
    }

    /// Whether the path already has the same bytes.
    ///
    /// - Throws: `.badArtifact` if something else is there that must not be replaced.
    private func isThere(_ artifact: ArtifactRecord, at target: String) throws(ArchiveError) -> Bool {
        var status = stat()
        guard lstat(target, &status) == 0 else { return false }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        if isFile, (try? ArtifactFolder(folder: "").digest(at: target)) == artifact.sha256 { return true }
        guard overwrites, status.st_mode & S_IFMT != S_IFDIR else {
            throw ArchiveError(
                .badArtifact,
                "\"\(target)\" already exists. --force replaces a file; --output names another folder.")
        }
        return false
    }

    /// Copies one artifact, and checks that its bytes match the digest in the report. Blocks.
    ///
    /// - Parameter source: The path of its file in the archive.
    public func copy(_ artifact: ArtifactRecord, from source: String) throws -> Copied {
        let target = try place(of: artifact)
        var copied = Copied(
            path: artifact.path, file: target, bytes: artifact.bytes, sha256: artifact.sha256, wasThere: false)
        if try isThere(artifact, at: target) {
            copied.wasThere = true
            return copied
        }
        let temporary = (target as NSString).deletingLastPathComponent + "/.pipectl-\(UUID().uuidString)"
        defer { unlink(temporary) }
        try ArtifactFolder(folder: "").export(
            source, to: temporary, sha256: artifact.sha256, mode: artifact.isExecutable ? 0o755 : 0o644)
        // rename(2) replaces a link and does not follow it.
        let isMoved = overwrites ? rename(temporary, target) == 0 : Self.putNew(temporary, at: target)
        guard isMoved else {
            throw ArchiveError(.badArtifact, "\"\(target)\" can't be written: \(String(cString: strerror(errno))).")
        }
        return copied
    }

    private static func hardLink(_ file: String, _ target: String) -> Int32 { link(file, target) }

    /// Gives a file a name that must not exist yet. Returns false, with errno set, if that fails.
    ///
    /// - Parameter link: link(2). Some file systems have no hard links: there, an empty file reserves the name, and the
    ///   rename replaces it.
    static func putNew(
        _ file: String, at target: String, link: ((String, String) -> Int32)? = nil
    ) -> Bool {
        if (link ?? hardLink)(file, target) == 0 { return true }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
        let taken = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard taken >= 0 else { return false }
        close(taken)
        if rename(file, target) == 0 { return true }
        let failure = errno
        unlink(target)
        errno = failure
        return false
    }

    /// The parts of its path.
    ///
    /// - Throws: `.badArtifact` for a name that leads out of the folder, can't be shown, or belongs to Git: a file
    ///   below `.git` would be configuration that Git obeys. `git~1` is a short name of it on some file systems.
    private func parts(of artifact: ArtifactRecord) throws(ArchiveError) -> [String] {
        let parts = artifact.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let isSafe = parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".." && part.utf8.count <= 255
                && ![".git", "git~1"].contains(part.lowercased())
                && part.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
        guard isSafe else {
            throw ArchiveError(
                .badArtifact,
                "The artifact \(TerminalText.name(artifact.path)) has a name that leaves the folder, belongs to Git, or can't be shown. "
                    + "Its contents are stored under their SHA-256, \(artifact.sha256).")
        }
        return parts
    }

    /// The path of its file. The folders above it are made.
    private func place(of artifact: ArtifactRecord) throws(ArchiveError) -> String {
        let parts = try parts(of: artifact)
        var path = folder
        for part in [""] + parts.dropLast() {
            if !part.isEmpty { path += "/" + part }
            var status = stat()
            let isThere = part.isEmpty ? stat(path, &status) == 0 : lstat(path, &status) == 0
            if isThere {
                guard status.st_mode & S_IFMT == S_IFDIR else {
                    throw ArchiveError(.badArtifact, "\"\(path)\" is not a folder. --output names another one.")
                }
            } else {
                do {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: part.isEmpty)
                } catch {
                    throw ArchiveError(
                        .badArtifact, "The folder \"\(path)\" can't be made: \(error.localizedDescription)")
                }
            }
        }
        return path + "/" + (parts.last ?? "")
    }
}
