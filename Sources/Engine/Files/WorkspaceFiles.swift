import Masking
import Results
import Crypto
import Foundation
package import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Limits of what is taken out of a workspace for one step.
public struct FileLimits: Sendable, Equatable {
    /// Maximum number of files.
    public var count = 1_000
    /// Maximum size of one file in bytes.
    public var fileBytes = 2 << 30
    /// Maximum size of all files together in bytes.
    public var totalBytes = 8 << 30
    /// Maximum depth of folders below the workspace.
    public var depth = 32
    /// Maximum number of folder entries that are looked at.
    public var entries = 1_000_000

    public init() {}
}

/// Takes files out of a folder that untrusted code wrote, without the secrets in them.
package struct WorkspaceFiles {
    let source: any FileSource
    let limits: FileLimits
    /// Whether links are found as if they were files.
    var findsLinks = false

    package init(source: any FileSource, limits: FileLimits, findsLinks: Bool = false) {
        self.source = source
        self.limits = limits
        self.findsLinks = findsLinks
    }

    /// The files of a folder of this machine.
    init(root: FilePath, limits: FileLimits, links: OutputLink? = nil) {
        self.init(
            source: LocalFiles(root: root, links: links ?? OutputLink(readable: [])), limits: limits,
            findsLinks: links != nil)
    }

    /// Finds the regular files that at least one of `globs` matches, sorted by path, and the empty folders.
    package func matching(_ globs: [Glob]) -> FileSearch { source.search(globs, limits, findsLinks: findsLinks) }

    /// What happens when a file that is copied out holds a secret.
    enum SecretPolicy: Sendable {
        /// The secret is replaced by a mark in the copy.
        case mask
        /// The file is not copied.
        case refuse
    }

    /// Copies a file out and returns the SHA-256 of the copy in lower-case hex, and its size.
    ///
    /// No part of a secret is ever written to the copy, not even for a moment.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if it is no longer the regular file that was found, or if it holds a secret
    ///   and `policy` refuses that.
    func copy(
        _ path: String, to destination: FilePath, masker: Masker? = nil, policy: SecretPolicy = .refuse
    ) throws -> (sha256: String, bytes: Int) {
        var target: FileDescriptor?
        defer { try? target?.close() }
        // The copy is made with the first bytes, so that a missing file leaves no empty copy behind.
        func copy() throws -> FileDescriptor {
            if let target { return target }
            do {
                let made = try FileDescriptor.open(
                    destination, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                    permissions: .ownerReadWrite)
                target = made
                return made
            } catch {
                throw WorkspaceFileProblem(path: path, reason: "\(error)", machineError: error as? Errno ?? .ioError)
            }
        }
        var digest = SHA256()
        var written = 0
        _ = try read(path, masker: masker, policy: policy) { buffer in
            digest.update(bufferPointer: buffer)
            let target = try copy()
            do {
                written += try target.writeAll(buffer)
            } catch {
                throw WorkspaceFileProblem(
                    path: path, reason: "it can't be copied: \(error)", machineError: error as? Errno ?? .ioError)
            }
        }
        _ = try copy()
        return (FileDigest.hex(digest.finalize()), written)
    }

    /// Hands over a file's bytes piece by piece, without the secrets in them, and returns how many the file has.
    ///
    /// - Throws: As ``copy(_:to:masker:policy:)``, and what `keep` throws.
    func read(
        _ path: String, masker: Masker? = nil, policy: SecretPolicy, _ keep: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        var masking = masker.map(MaskingStream.init)
        func check() throws {
            guard policy == .refuse, let name = masking?.found else { return }
            throw WorkspaceFileProblem(path: path, reason: "it contains secret \(name)", secret: name)
        }
        let bytes = try source.read(path, atMost: limits.fileBytes) { buffer in
            if masking == nil { try keep(buffer) } else { try masking?.feed(buffer, keep) }
            try check()
        }
        try masking?.flush(keep)
        try check()
        return bytes
    }
}
