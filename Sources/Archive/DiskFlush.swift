internal import Foundation
internal import Store

/// Brings files and folders to the disk.
enum DiskFlush {
    /// Flushes a file's bytes, or a folder's names. Throws `.diskFull` or `.unusableArchive`.
    static func flush(_ path: String) throws {
        guard try flushIfThere(path) else {
            throw failure("open", path, ENOENT)
        }
    }

    /// The same where there may be no such file; returns whether there is one.
    @discardableResult
    static func flushIfThere(_ path: String) throws -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0, errno == ENOENT { return false }
        guard file >= 0 else { throw failure("open", path, errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure("write", path, errno) }
        return true
    }

    static func failure(_ verb: String, _ path: String, _ code: Int32) -> ArchiveError {
        ArchiveError(
            code == ENOSPC || code == EDQUOT ? .diskFull : .unusableArchive,
            "Could not \(verb) \"\(path)\": \(String(cString: strerror(code))). Check its owner and the free space.")
    }
}
