package import Masking
package import Results
import Crypto
import Foundation
import Sandbox
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The outputs of a step (files, links and empty folders) in one file, stored so that a later run can restore them.
///
/// The first line names the format. Then come the files and links, sorted by path, and after them the empty folders.
/// Each entry holds the length of its path (4 bytes, big-endian), the path, one byte for its kind (0: file, 1:
/// executable, 2: folder, 3: link), the length of its content (8 bytes) and the content; the content of a link is its
/// target. The same files give the same bytes, so the archive stores them once. A step has one pack rather than many
/// files, because each file that is stored durably costs a flush of the disk.
package struct OutputPack {
    static let header = Array("pipectl outputs 3\n".utf8)
    /// The previous format, which had no links.
    private static let headerWithoutLinks = Array("pipectl outputs 2\n".utf8)

    private static let folder: UInt8 = 2
    private static let link: UInt8 = 3

    /// Packs the files and links that a search found in a workspace into a new file.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if a file was replaced since the search, is too large, or holds a secret.
    package static func write(
        _ found: FileSearch, of files: WorkspaceFiles, to destination: FilePath, masker: Masker?
    ) throws -> OutputRecord {
        let target = open(destination.string, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else { throw Errno(rawValue: errno) }
        defer { close(target) }
        var digest = SHA256()
        var bytes = 0
        func put(_ buffer: UnsafeRawBufferPointer) throws {
            digest.update(bufferPointer: buffer)
            bytes += try FileDescriptor(rawValue: target).writeAll(buffer)
        }
        func put(_ content: [UInt8]) throws { try content.withUnsafeBytes { try put($0) } }
        func begin(_ name: String, _ kind: UInt8, bytes: Int) throws {
            if let secret = masker?.secret(in: name) {
                throw WorkspaceFileProblem(path: name, reason: "its name contains secret \(secret)", secret: secret)
            }
            let path = Array(name.utf8)
            try put(bigEndian(UInt64(path.count), 4) + path + [kind])
            try put(bigEndian(UInt64(bytes), 8))
        }
        try put(header)
        for match in found.matches {
            if let target = match.target {
                if let secret = masker?.secret(in: target) {
                    throw WorkspaceFileProblem(
                        path: match.path, reason: "its target contains secret \(secret)", secret: secret)
                }
                try begin(match.path, link, bytes: match.bytes)
                try put(Array(target.utf8))
                continue
            }
            try begin(match.path, match.isExecutable ? 1 : 0, bytes: match.bytes)
            let read = try files.read(match.path, masker: masker, policy: .refuse) { try put($0) }
            guard read == match.bytes else {
                throw WorkspaceFileProblem(path: match.path, reason: "it was changed while it was read")
            }
        }
        for path in found.emptyFolders { try begin(path, folder, bytes: 0) }
        return OutputRecord(sha256: FileDigest.hex(digest.finalize()), bytes: bytes, files: found.matches.count)
    }

    /// Writes the content of a pack into a workspace, then removes stale outputs that are not in the pack.
    ///
    /// The order matters: a file that exists before and after exists all the time, because other steps may be reading
    /// it.
    ///
    /// - Throws: ``OutputPackProblem`` if the pack differs from the one that was stored. The check comes before any
    ///   change; only if the pack is changed between the check and the unpacking are some of its files already in
    ///   place.
    package static func unpack(
        _ path: String, sha256: String, inPlaceOf stale: StaleOutputs, with writer: some OutputTarget
    ) throws {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw Errno(rawValue: errno) }
        defer { close(source) }
        try verify(source, sha256)
        var reader = PackReader(source: source)
        let format = try reader.need(header.count)
        guard format == header || format == headerWithoutLinks else {
            throw OutputPackProblem(reason: "it is of another format")
        }
        var paths: Set<String> = []
        while let path = try unpackEntry(from: &reader, with: writer) { paths.insert(path) }
        let found = FileDigest.hex(reader.digest.finalize())
        if sha256 != found { throw OutputPackProblem(reason: "its SHA-256 is \(found)") }
        try writer.clear(stale, but: paths)
    }

    /// Writes the next entry, and returns its path; nil at the end of the pack.
    private static func unpackEntry(from reader: inout PackReader, with writer: some OutputTarget) throws -> String? {
        let length = try reader.take(4)
        if length.isEmpty { return nil }
        guard length.count == 4, let size = number(length), size > 0, size <= 4_096,
            let path = String(validating: try reader.need(size), as: UTF8.self)
        else { throw OutputPackProblem(reason: "a path in it is damaged") }
        let kind = try reader.need(1)[0]
        guard var rest = number(try reader.need(8)) else {
            throw OutputPackProblem(reason: "a length in it is damaged")
        }
        switch kind {
        case folder: try writer.makeFolder(path)
        case link:
            guard rest > 0, rest <= 4_096, let target = String(validating: try reader.need(rest), as: UTF8.self) else {
                throw OutputPackProblem(reason: "a link in it is damaged")
            }
            try writer.putLink(path, to: target)
        default:
            try writer.put(path, isExecutable: kind == 1) {
                guard rest > 0 else { return nil }
                let piece = try reader.need(min(rest, 1 << 18))
                rest -= piece.count
                return piece
            }
        }
        return path
    }

    /// Reads an open file to its end, checks its digest and seeks back to its start.
    private static func verify(_ source: Int32, _ sha256: String) throws {
        var digest = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let got = buffer.withUnsafeMutableBytes { Foundation.read(source, $0.baseAddress, $0.count) }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Errno(rawValue: errno) }
            if got == 0 { break }
            digest.update(data: buffer.prefix(got))
        }
        guard lseek(source, 0, SEEK_SET) == 0 else { throw Errno(rawValue: errno) }
        let found = FileDigest.hex(digest.finalize())
        if sha256 != found { throw OutputPackProblem(reason: "its SHA-256 is \(found)") }
    }

    private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
    }

    private static func number(_ bytes: [UInt8]) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

/// Reads a pack from its start, and digests what it has read.
private struct PackReader {
    /// The descriptor of the file, which stays the caller's to close.
    let source: Int32
    var digest = SHA256()

    /// Reads up to `count` bytes; fewer only at the end of the file.
    mutating func take(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                Foundation.read(source, $0.baseAddress.map { $0 + filled }, count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        digest.update(data: bytes)
        return bytes
    }

    mutating func need(_ count: Int) throws -> [UInt8] {
        let bytes = try take(count)
        guard bytes.count == count else { throw OutputPackProblem(reason: "it ends early") }
        return bytes
    }
}

/// Why stored outputs can't be used.
struct OutputPackProblem: Error, CustomStringConvertible {
    var reason: String
    var description: String { "the stored outputs are damaged: \(reason)" }
}
