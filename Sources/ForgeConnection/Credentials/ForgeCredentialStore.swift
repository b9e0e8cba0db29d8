public import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif
public import Foundation

/// Stores the credentials of forges: one file for each repository, which only its owner can read. They are apart from
/// the secrets of steps, so that no workflow can name one.
///
/// For a repository the first of these is used: systemd's credential `pipectl-forge-NAME`, the environment's
/// `PIPECTL_FORGE_TOKEN`, the file.
public struct ForgeCredentialStore: Sendable {
    /// The largest credential, in bytes.
    static let mostBytes = 64 << 10

    private let folder: FilePath
    private let environment: [String: String]

    /// - Parameter folder: Created with the first credential.
    public init(folder: FilePath, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.folder = folder
        self.environment = environment
    }

    /// The credential for `repository` and its source; nil if there is none.
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

    /// Stores `credential` for `repository` and replaces an earlier one.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential` if it can't be written.
    public func keep(_ credential: ForgeCredential, for repository: String) throws {
        try keep(credential.text, in: file(repository))
    }

    /// The secret that the webhook of `repository` signs with: systemd's credential `pipectl-webhook-NAME`, else the file.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential`.
    public func webhookSecret(for repository: String) throws -> WebhookSecret? {
        if let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") {
            let path = FilePath(directory).appending("pipectl-webhook-\(repository)")
            if let text = try Self.read(path, isOwn: false) { return try WebhookSecret(text: text) }
        }
        return try Self.read(webhookFile(repository), isOwn: true).map { try WebhookSecret(text: $0) }
    }

    /// Keeps the secret of the webhook of `repository`, in place of an earlier one.
    public func keep(_ secret: WebhookSecret, for repository: String) throws {
        try keep(secret.text, in: webhookFile(repository))
    }

    /// The secret of the OAuth App that people sign in to the pages with: systemd's credential `pipectl-sign-in`, the
    /// environment's `PIPECTL_SIGN_IN_SECRET`, the file.
    ///
    /// - Throws: ``ForgeError`` with `.badCredential`.
    public func signInSecret() throws -> ForgeCredential? {
        if let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") {
            let path = FilePath(directory).appending("pipectl-sign-in")
            if let text = try Self.read(path, isOwn: false) { return try ForgeCredential(text: text) }
        }
        if let text = environment["PIPECTL_SIGN_IN_SECRET"], !text.isEmpty { return try ForgeCredential(text: text) }
        return try Self.read(signInFile, isOwn: true).map { try ForgeCredential(text: $0) }
    }

    /// Keeps the secret of the OAuth App, in place of an earlier one.
    public func keep(signInSecret: ForgeCredential) throws { try keep(signInSecret.text, in: signInFile) }

    /// No other file begins like this, because the dots of a name are encoded.
    private var signInFile: FilePath { folder.appending(".sign-in") }

    private func keep(_ text: String, in path: FilePath) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let part = FilePath(path.string + ".part")
            try? FileManager.default.removeItem(atPath: part.string)
            let descriptor = try FileDescriptor.open(
                part, .writeOnly, options: [.create, .exclusiveCreate, .noFollow], permissions: [.ownerReadWrite])
            try descriptor.closeAfter { _ = try descriptor.writeAll(text.utf8) }
            // In one step: a reader finds the old credential or the new one.
            guard rename(part.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            throw ForgeError(
                .badCredential, "the credential can't be stored in \(folder): \(error)")
        }
    }

    /// Deletes the stored credential of `repository` and the secret of its webhook. It can't delete one of systemd or of
    /// the environment.
    public func forget(_ repository: String) {
        try? FileManager.default.removeItem(atPath: file(repository).string)
        try? FileManager.default.removeItem(atPath: webhookFile(repository).string)
    }

    /// No other file ends like this, because the dots of a name are encoded.
    private func webhookFile(_ repository: String) -> FilePath { FilePath(file(repository).string + ".webhook") }

    /// A repository's name may contain any character; a file's name may not.
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
            throw ForgeError(.badCredential, "\(path) is larger than \(mostBytes >> 10) KiB, so it is not a credential")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
