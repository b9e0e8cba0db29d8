import Masking
import Foundation
import Pipeline
import SystemPackage

/// A folder with a file for each secret, which has the secret's name.
///
/// Nothing in it is trusted: files are opened without following links and without waiting for the writer of a fifo, and
/// are read only if nobody else can read them.
struct SecretFolder: Sendable {
    /// The most bytes of a value.
    static let longestValue = 64 << 10

    let path: String
    let source: SecretRecord.Source
    var repository: String?
    /// Whether this type must check the permissions of the folder and its files. It must not for systemd's credentials:
    /// systemd grants access with an access control list, whose mask looks like a permission of the group.
    var isOwn: Bool { source == .folder }

    /// The value; nil if there is no secret of that name here.
    ///
    func value(of name: String) throws(SecretError) -> [UInt8]? {
        guard let folder = try open() else { return nil }
        defer { close(folder) }
        guard let file = try open(name, in: folder) else { return nil }
        defer { close(file) }
        var value = [UInt8](repeating: 0, count: SecretFolder.longestValue + 1)
        var count = 0
        while count < value.count {
            let size = value.withUnsafeMutableBytes { read(file, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if size < 0 && errno == EINTR { continue }
            guard size >= 0 else { throw failure("read", name) }
            if size == 0 { break }
            count += size
        }
        guard count <= SecretFolder.longestValue else { throw tooLong(name) }
        guard count > 0 else {
            throw SecretError(.value, "Secret \(name) is empty. Set it again: `\(command("set", name))`.")
        }
        return Array(value[..<count])
    }

    /// The secrets by name, without reading a value, and the names of files that can't be secrets as `strangers`.
    func records() throws(SecretError) -> (records: [SecretRecord], strangers: [String]) {
        guard let folder = try open() else { return ([], []) }
        // The stream closes it.
        guard let stream = fdopendir(folder) else {
            close(folder)
            throw failure("fdopendir", nil)
        }
        defer { closedir(stream) }
        var records: [SecretRecord] = []
        var strangers: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix(".") || name == SecretStores.repositories && isOwn { continue }
            guard SecretUse.problem(with: name) == nil else {
                // A unit may have other credentials, too.
                if isOwn { strangers.append(name) }
                continue
            }
            var record = SecretRecord(name: name, source: source, repository: repository)
            do throws(SecretError) {
                guard let file = try open(name, in: dirfd(stream)) else { continue }
                defer { close(file) }
                var info = stat()
                if fstat(file, &info) == 0 {
                    if isOwn { record.setAt = info.modified }
                    if info.st_size > SecretFolder.longestValue { record.problem = tooLong(name).description }
                }
            } catch { record.problem = error.description }
            records.append(record)
        }
        return (records.sorted { $0.name < $1.name }, strangers.sorted())
    }

    /// Writes the value in one step. It is on the disk when this returns.
    func set(_ name: String, to value: [UInt8]) throws(SecretError) {
        let folder = try made()
        defer { close(folder) }
        let temporary = ".\(name).\(UInt64.random(in: .min ... .max))"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("open", name) }
        var isDone = false
        defer { if !isDone { unlinkat(folder, temporary, 0) } }
        do {
            defer { close(file) }
            // Nobody else may read it, whatever the umask is.
            guard fchmod(file, 0o600) == 0 else { throw failure("fchmod", name) }
            do { _ = try FileDescriptor(rawValue: file).writeAll(value) } catch {
                throw SecretError(.system, "Secret \(name) can't be written to \"\(path)\": \(error).")
            }
            guard fsync(file) == 0 else { throw failure("fsync", name) }
        }
        guard renameat(folder, temporary, folder, name) == 0 else { throw failure("rename", name) }
        isDone = true
        guard fsync(folder) == 0 else { throw failure("fsync", name) }
    }

    /// Removes it; false if there is none.
    func remove(_ name: String) throws(SecretError) -> Bool {
        guard let folder = try open() else { return false }
        defer { close(folder) }
        guard unlinkat(folder, name, 0) == 0 else {
            if errno == ENOENT { return false }
            throw failure("unlink", name)
        }
        guard fsync(folder) == 0 else { throw failure("fsync", name) }
        return true
    }

    // MARK: Opening

    /// The folder; nil if there is none.
    private func open() throws(SecretError) -> Int32? {
        let folder = openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ENOTDIR, ELOOP:
                throw SecretError(
                    .unsafe, "\"\(path)\" is a link or not a folder. Replace it by a folder of yours with mode 700.")
            default: throw failure("open", nil)
            }
        }
        guard isOwn else { return folder }
        var info = stat()
        guard fstat(folder, &info) == 0 else {
            close(folder)
            throw failure("stat", nil)
        }
        guard info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            close(folder)
            throw SecretError(
                .unsafe,
                info.st_uid == geteuid()
                    ? "Others can reach \"\(path)\", so its secrets may be known. Restrict it: chmod 700 \"\(path)\"; "
                        + "then set them again."
                    : "\"\(path)\" belongs to user \(info.st_uid) and pipectl runs as \(geteuid()): chown it.")
        }
        return folder
    }

    /// Makes the folder if there is none, and checks it.
    func make() throws(SecretError) { close(try made()) }

    private func made() throws(SecretError) -> Int32 {
        if mkdir(path, 0o700) != 0 && errno != EEXIST { throw failure("mkdir", nil) }
        guard let folder = try open() else { throw failure("open", nil) }
        return folder
    }

    private func open(_ name: String, in folder: Int32) throws(SecretError) -> Int32? {
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        let place = "\"\(path)/\(name)\""
        guard file >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw SecretError(.unsafe, "\(place) is a link. Set the secret again: \(again(name))")
            case ENXIO, EOPNOTSUPP: throw SecretError(.unsafe, "\(place) is not a regular file: \(again(name))")
            default: throw failure("open", name)
            }
        }
        var info = stat()
        var problem: SecretError?
        if fstat(file, &info) != 0 {
            problem = failure("stat", name)
        } else if info.st_mode & S_IFMT != S_IFREG {
            problem = SecretError(.unsafe, "\(place) is not a regular file: \(again(name))")
        } else if isOwn && info.st_uid != geteuid() {
            problem = SecretError(
                .unsafe, "\(place) belongs to user \(info.st_uid) and pipectl runs as \(geteuid()): chown it.")
        } else if isOwn && info.st_mode & 0o077 != 0 {
            problem = SecretError(
                .unsafe,
                "Others can read or write \(place), so the secret may be known. Replace its value, or if you are sure: "
                    + "chmod 600 \(place)")
        }
        if let problem {
            close(file)
            throw problem
        }
        return file
    }

    // MARK: Sentences

    private func command(_ verb: String, _ name: String) -> String {
        "pipectl secrets \(verb) \(name)" + (repository.map { " --repository \($0)" } ?? "")
    }

    private func again(_ name: String) -> String {
        isOwn ? "remove it, then `\(command("set", name))`." : "see LoadCredential= in systemd.exec(5)."
    }

    private func tooLong(_ name: String) -> SecretError {
        SecretError(
            .value, "Secret \(name) is longer than \(SecretFolder.longestValue) bytes, the limit: \(again(name))")
    }

    /// The last error of the system, as an error.
    private func failure(_ call: String, _ name: String?) -> SecretError {
        let reason = String(cString: strerror(errno))
        let place = name.map { "\"\(path)/\($0)\"" } ?? "\"\(path)\""
        return SecretError(.system, "\(place) can't be used (\(call): \(reason)).")
    }
}

/// open(2), out of reach inside a type that has a method of that name.
private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

extension stat {
    fileprivate var modified: Date {
        #if os(Linux)
            Date(timeIntervalSince1970: Double(st_mtim.tv_sec))
        #else
            Date(timeIntervalSince1970: Double(st_mtimespec.tv_sec))
        #endif
    }
}
