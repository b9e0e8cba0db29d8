import SystemCalls
internal import Foundation
internal import Synchronization

/// The process that owns the state folder, according to the lock file.
public struct StateOwner: Sendable, Equatable {
    public var pid: Int32
    /// The command that it is: `watch`, `run test`.
    public var purpose: String

    public init(pid: Int32, purpose: String) { (self.pid, self.purpose) = (pid, purpose) }
}

/// The right to change the state folder: one process has it at a time.
///
/// It is the kernel's (`flock(2)`), so it ends with its process, however that ends. What stands in the file is for
/// people. Programs that we start don't inherit it.
public final class StateLock: Sendable {
    private let descriptor: Mutex<Descriptor?>

    private init(_ descriptor: Descriptor) { self.descriptor = Mutex(descriptor) }

    deinit { release() }

    /// Takes the lock of `folder`; `purpose` is the command that others are told about, as `watch`.
    ///
    /// Throws `locked` at once if another process (or another lock of this one) has it, and `unusable`.
    public static func acquire(_ folder: StateFolder, purpose: String) throws(StateError) -> StateLock {
        let number = open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StateError(.unusable, "\(SystemFailure("open")) for \"\(folder.lock)\". Check the folder's owner.")
        }
        let descriptor = Descriptor(number)
        try descriptor.use { number throws(StateError) in
            while flock(number, LOCK_EX | LOCK_NB) != 0 {
                switch errno {
                case EINTR: continue
                case EWOULDBLOCK: throw taken(folder, by: owner(number))
                default:
                    throw StateError(
                        .unusable,
                        "\(SystemFailure("flock")) for \"\(folder.lock)\". Set PIPECTL_HOME to a folder on a local disk."
                    )
                }
            }
            let note = Array("\(getpid()) \(purpose)\n".utf8)
            guard ftruncate(number, 0) == 0, pwrite(number, note, note.count, 0) == note.count else {
                throw StateError(
                    .unusable, "\(SystemFailure("write")) for \"\(folder.lock)\". Free some space on its disk.")
            }
        }
        return StateLock(descriptor)
    }

    /// Gives the lock back; the next may take it.
    public func release() {
        descriptor.withLock { held in
            guard let descriptor = held.take() else { return }
            descriptor.use { number in
                ftruncate(number, 0)
                // Closing it is not enough: a child that has not begun its program yet may have the file, too.
                flock(number, LOCK_UN)
            }
        }
    }

    /// The process that noted itself in `folder` last; nil where none has. It may be gone: only the lock itself tells.
    public static func owner(of folder: StateFolder) -> StateOwner? {
        let number = open(folder.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { return nil }
        return Descriptor(number).use { owner($0) }
    }

    private static func owner(_ number: Int32) -> StateOwner? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(number, &bytes, bytes.count, 0)
        let words = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").first?
            .split(separator: " ", maxSplits: 1)
        guard let words, words.count == 2, let pid = Int32(words[0]) else { return nil }
        return StateOwner(pid: pid, purpose: String(words[1]))
    }

    private static func taken(_ folder: StateFolder, by owner: StateOwner?) -> StateError {
        let who = owner.map { "(pid \($0.pid), `\($0.purpose)`) " } ?? ""
        let stop = owner.map { "stop it with \"kill \($0.pid)\"" } ?? "wait until it ends"
        return StateError(
            .locked,
            "Another pipectl \(who)owns \"\(folder.path)\". "
                + "Ask it with \"pipectl status\", \(stop), or set PIPECTL_HOME to another folder.")
    }
}
