public import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif
public import Foundation

/// Where credentials of forges are: one file for each repository, which only its owner may read. They are kept apart from
/// the secrets of steps, so that no workflow can name one.
///
/// For a repository the first that is there counts: systemd's credential `pipectl-forge-NAME`, the environment's
/// `PIPECTL_FORGE_TOKEN`, the file.
public struct ForgeCredentialStore: Sendable {
    /// Bytes of a credential, at most.
    static let mostBytes = 64 << 10

    private let folder: FilePath
    private let environment: [String: String]

    /// - Parameter folder: Made when a credential is first kept.
    public init(folder: FilePath, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.folder = folder
        self.environment = environment
    }

    /// The credential for `repository` and where it was found; nil if there is none.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential`: unreadable, too large, or not a credential.
    public func credential(for repository: String) throws -> (ForgeCredential, place: String)? {
        if let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") {
            let name = "pipectl-forge-\(repository)"
            if let text = try Self.read(FilePath(directory).appending(name), isOwn: false) {
                return (try ForgeCredential(text: text), "systemd credential \(name)")
            }
        }
        if let text = environment["PIPECTL_FORGE_TOKEN"], !text.isEmpty {
            return (try ForgeCredential(text: text), "environment variable PIPECTL_FORGE_TOKEN")
        }
        let path = file(repository)
        guard let text = try Self.read(path, isOwn: true) else { return nil }
        return (try ForgeCredential(text: text), path.string)
    }

    /// Keeps `credential` for `repository`, in place of an earlier one.
    public func keep(_ credential: ForgeCredential, for repository: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let path = file(repository)
            let part = FilePath(path.string + ".part")
            try? FileManager.default.removeItem(atPath: part.string)
            let descriptor = try FileDescriptor.open(
                part, .writeOnly, options: [.create, .exclusiveCreate, .noFollow], permissions: [.ownerReadWrite])
            try descriptor.closeAfter { _ = try descriptor.writeAll(credential.text.utf8) }
            // In one step: whoever reads meanwhile finds the old credential or the new one.
            guard rename(part.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            throw ForgeError(
                .badCredential, "the credential could not be kept in \(folder): \(error)")
        }
    }

    /// Forgets the kept credential of `repository`; one of systemd or the environment is not ours to remove.
    public func forget(_ repository: String) {
        try? FileManager.default.removeItem(atPath: file(repository).string)
    }

    /// Names of repositories may hold any character; a file's name may not.
    private func file(_ repository: String) -> FilePath {
        folder.appending(ForgeRequest.part(repository).replacing(".", with: "%2E"))
    }

    private static func read(_ path: FilePath, isOwn: Bool) throws -> String? {
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor.open(
                path, .readOnly, options: isOwn ? [.noFollow, .closeOnExec] : [.closeOnExec])
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw ForgeError(.badCredential, "\(path) can't be read: \(error)")
        }
        let bytes: [UInt8] = try descriptor.closeAfter {
            let buffer = try [UInt8](unsafeUninitializedCapacity: mostBytes + 1) { buffer, count in
                while count <= mostBytes {
                    let read = try descriptor.read(
                        into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
                    if read == 0 { break }
                    count += read
                }
            }
            return buffer
        }
        guard bytes.count <= mostBytes else {
            throw ForgeError(.badCredential, "\(path) is larger than \(mostBytes >> 10) KiB; it is no credential")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
