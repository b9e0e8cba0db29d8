import SystemCalls
internal import Foundation

/// The socket file of a daemon, and the connections to it.
struct DaemonListener: Sendable {
    private let socket: StreamSocket
    private let path: String
    private let identity: FileIdentity?

    /// Binds `path`, mode 0600, and replaces a socket that nobody answers on.
    static func open(at path: String) async throws(DaemonError) -> DaemonListener {
        try await withFolderLocked(of: path) { () async throws(DaemonError) in
            do {
                let socket = try StreamSocket.make()
                var number = socket.bind(to: path)
                if number == EADDRINUSE {
                    try await removeStale(path)
                    number = socket.bind(to: path)
                }
                guard number == 0 else { throw SystemFailure("bind", number) }
                // Nobody can connect before listen(2), so the mode is right from the first connection on.
                guard chmod(path, 0o600) == 0 else { throw SystemFailure("chmod") }
                try socket.listen()
                return DaemonListener(socket: socket, path: path, identity: FileIdentity(path))
            } catch let error as DaemonError {
                throw error
            } catch {
                throw DaemonError(
                    .socket,
                    "The daemon's socket \"\(path)\" (\(path.utf8.count) bytes, at most \(UnixAddress.maximumLength)) "
                        + "cannot be opened: \(error). Check the folder's owner and free space.")
            }
        }
    }

    /// The next connection of a permitted user; `nil` when the task is cancelled.
    func next() async -> StreamSocket? {
        while !Task.isCancelled {
            do {
                guard let client = try await socket.accept() else { return nil }
                if let user = client.peerUser, user == geteuid() || user == 0 { return client }
                let text = "The daemon belongs to user \(geteuid()). Run the command as that user."
                client.writeNow(Envelope.line(DaemonError(.otherUser, text)))
            } catch {
                // Out of descriptors or memory: the client stays in the kernel's queue until some are free.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        return nil
    }

    /// Removes the socket file, unless it belongs to another daemon by now.
    func remove() {
        socket.close()
        if let identity, FileIdentity(path) == identity { unlink(path) }
    }

    private static func removeStale(_ path: String) async throws {
        guard let identity = FileIdentity(path) else { return }
        guard identity.isSocket else {
            throw DaemonError(
                .socket,
                "\"\(path)\" is not a socket, but the daemon's socket must be there. Move it away, then start again."
            )
        }
        switch try StreamSocket.make().connect(to: path) {
        case ECONNREFUSED: unlink(path)
        case ENOENT: break
        default:
            throw DaemonError(
                .alreadyRunning,
                "Another pipectl daemon answers at \"\(path)\". Stop that one first, or use it: \"pipectl status\".")
        }
    }

    /// Two daemons that start at the same time must not take each other's new socket for a stale one.
    private static func withFolderLocked(
        of path: String, _ body: () async throws(DaemonError) -> DaemonListener
    ) async throws(DaemonError) -> DaemonListener {
        let folder = (path as NSString).deletingLastPathComponent
        let number = Foundation.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw DaemonError(
                .socket, "The socket's folder cannot be opened: \(SystemFailure(folder)). Create it first.")
        }
        let descriptor = Descriptor(number)
        let deadline = ContinuousClock.now + .seconds(5)
        while flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                throw DaemonError(.socket, "Another process holds \"\(folder)\" locked. Stop it, then start again.")
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
        // Released by hand: a child between fork and exec shares the descriptor, and so the lock.
        defer { descriptor.use { _ = flock($0, LOCK_UN) } }
        return try await body()
    }
}

/// The identity of a file, whatever its path.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    let isSocket: Bool

    /// `nil` if there is nothing at `path`.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}
