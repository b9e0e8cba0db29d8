import Foundation
import Sandbox
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folder of a lasting agent's socket. Only its user can enter it, and nobody can guess its name.
struct AgentRoom: Sendable {
    let path: String
    private let lock: FolderLock
    private let listener: StreamSocket
    private static let prefix = "pipectl-agent-"
    /// Seconds after which no agent comes any more: the script of the allocation waits for minutes.
    private static let abandoned = 86_400.0

    static func socket(in folder: String) -> String { "\(folder)/socket" }

    /// Listens in an existing folder, and removes those beside it whose agents were killed.
    ///
    /// - Throws: ``AgentProblem`` for a folder of another user, or one that others can enter; ``SystemFailure``.
    init(_ path: String) throws {
        try Self.check(path)
        guard let lock = FolderLock("\(path)/lock", creates: true, isShared: false) else {
            throw AgentProblem("another agent listens in \(path)")
        }
        listener = try StreamSocket.make()
        let code = listener.bind(to: Self.socket(in: path))
        guard code == 0 else { throw SystemFailure("bind", code) }
        try listener.listen()
        (self.path, self.lock) = (path, lock)
        Self.sweep(beside: path)
    }

    /// The next connection; nil when the task is cancelled.
    func accept() async throws -> StreamSocket? { try await listener.accept() }

    func remove() { try? FolderRemoval.remove(path) }

    /// - Throws: ``AgentProblem`` unless the folder belongs to this user alone.
    static func check(_ path: String) throws {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid(),
            facts.st_mode & 0o077 == 0
        else { throw AgentProblem("\(path) is missing, or is no folder of this user alone") }
    }

    /// Seconds since something was made in a folder.
    private static func age(of path: String) -> Double {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return 0 }
        #if canImport(Darwin)
            let changed = facts.st_mtimespec.tv_sec
        #else
            let changed = facts.st_mtim.tv_sec
        #endif
        return Date().timeIntervalSince1970 - Double(changed)
    }

    private static func sweep(beside path: String) {
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let other = "\(parent)/\(name)"
            // Who holds the lock is alive. A new one may not have it yet, and one whose allocation was cancelled before
            // its agent came never had it.
            guard other != path, (try? check(other)) != nil, case let age = age(of: other), age > 60,
                let lock = FolderLock("\(other)/lock", creates: age > abandoned, isShared: false)
            else { continue }
            try? FolderRemoval.remove(other)
            lock.giveBack()
        }
    }
}
