import SystemCalls
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the bytes of a settings file, if the file can be trusted.
enum SettingsFile {
    /// The largest file that is read, in bytes: far more than any daemon needs.
    static let mostBytes = 1 << 20

    /// Reads the file; nil if there is none.
    ///
    /// A person who may write the file decides which commands run and with which rights, so only its owner and root
    /// may. A group that has the owner alone may, too.
    ///
    /// - Throws: ``SettingsProblem`` as an error with the code `file`.
    static func read(_ path: String) throws(SettingsError) -> [UInt8]? {
        // Without O_NONBLOCK, opening a FIFO would wait for its writer.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            let error = Errno(rawValue: errno)
            if error == .noSuchFileOrDirectory { return nil }
            throw problem(path, "can't be read: \(error).")
        }
        defer { close(file) }
        try check(path, file)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= mostBytes {
            let count = buffer.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(bytes.count)) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw problem(path, "can't be read: \(Errno(rawValue: errno)).") }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= mostBytes else { throw tooLarge(path) }
        return bytes
    }

    private static func check(_ path: String, _ file: Int32) throws(SettingsError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw problem(path, "can't be read: \(Errno(rawValue: errno)).") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            throw problem(path, isFolder ? "is a folder. Name the file in it." : "is not a plain file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw problem(path, "belongs to another user, who could change it. Make it your own: chown.")
        }
        let isSharedByGroup = status.st_mode & S_IWGRP != 0 && !isPrivate(status.st_gid, of: status.st_uid)
        guard status.st_mode & S_IWOTH == 0, !isSharedByGroup else {
            throw problem(path, "can be changed by other users. Restrict it: chmod go-w \"\(path)\".")
        }
        guard status.st_size <= mostBytes else { throw tooLarge(path) }
    }

    /// Whether nobody but the user is in the group. Root is never asked for: other administrators may be in its group.
    private static func isPrivate(_ group: gid_t, of user: uid_t) -> Bool {
        guard user != 0, let owner = SystemUser.find(user), owner.group == group else { return false }
        return SystemGroup.find(group)?.isPrivate(of: owner) ?? false
    }

    private static func tooLarge(_ path: String) -> SettingsError { problem(path, "is larger than 1 MiB.") }

    static func problem(_ path: String, _ rest: String) -> SettingsError {
        SettingsError(
            [SettingsProblem(code: .file, name: "", line: nil, sentence: "The settings file \(path) \(rest)")],
            file: path)
    }
}
