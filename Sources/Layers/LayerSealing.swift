import Engine
import Foundation
import Git
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Turns what the steps of a passed run wrote into a layer for later runs: the tracked files are made equal to the
/// commit, and reports and artifacts are removed, which a later run could take for its own.
///
/// Only for a layer that nothing writes to any more. It works with descriptors and follows no link, because steps have
/// filled the layer.
struct LayerSealing {
    /// Why no snapshot can be made of it; a sentence.
    struct Obstacle: Error, CustomStringConvertible {
        package let description: String
    }

    let layer: Layer
    /// The layers below, newest first.
    let lower: [Layer]
    /// The results that steps leave, reports and artifacts: the next run must make its own.
    let results: [Glob]

    /// Deeper folders are not sealed, because each level needs an open descriptor.
    private static let deepest = 200

    /// - Parameter repository: The repository that has the tree.
    /// - Returns: The tracked files that were written again; the index has other times for them.
    func seal(tree: OID, in repository: Repository) throws -> [WrittenFile] {
        let folder = open(layer.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Errno(rawValue: errno) }
        // What a later run writes must be newer than everything that was built.
        do { try FolderTimes.endFuture(of: layer.path) } catch {
            close(folder)
            throw error
        }
        var restored: [WrittenFile] = []
        try seal(folder, path: [], tree, repository, &restored)
        return restored
    }

    /// Takes ownership of `folder`.
    private func seal(
        _ folder: Int32, path: [[CChar]], _ tree: OID?, _ repository: Repository, _ restored: inout [WrittenFile]
    ) throws {
        let (here, tracked): (stat, [[UInt8]: TreeEntry])
        // Looked at before anything is removed from it.
        do { (here, tracked) = try look(folder, path: path, tree, repository) } catch {
            close(folder)
            throw error
        }
        try FolderEntries.visit(folder) { name, _ in
            let inner = path + [name]
            var info = stat()
            guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw Errno(rawValue: errno) }
            let isFolder = info.st_mode & S_IFMT == S_IFDIR
            guard let entry = tracked[Array(text(name).utf8)] else {
                if path.isEmpty && text(name) == ".git" || !isFolder && isResult(inner) {
                    try remove(name, in: folder, isFolder)
                } else if isFolder, !results.isEmpty {
                    try seal(try opened(name, in: folder), path: inner, nil, repository, &restored)
                }
                return
            }
            switch entry.kind {
            case .tree:
                guard isFolder else { throw Obstacle(description: "a step removed the folder \(text(inner))") }
                guard fchmodat(folder, name, 0o755, 0) == 0 else { throw Errno(rawValue: errno) }
                let below = try opened(name, in: folder)
                #if os(Linux)
                    if fgetxattr(below, Whiteouts.opaque, nil, 0) >= 0 {
                        close(below)
                        throw Obstacle(description: "a step replaced the folder \(text(inner))")
                    }
                #endif
                try seal(below, path: inner, entry.id, repository, &restored)
            // What a step put there belongs to a .git that is not kept: git would find a half of it and give up.
            case .submodule: try remove(name, in: folder, isFolder)
            case .symlink:
                // What was built through another one would look as if nothing had changed.
                guard try target(of: name, in: folder, info) == (try linkBelow(inner)) else {
                    throw Obstacle(description: "a step changed the link \(text(inner))")
                }
                try remove(name, in: folder, false)
            case .blob, .executable:
                guard let now = try restore(name, in: folder, here, path: inner, info) else { return }
                let names = inner.map { $0.dropLast().map(UInt8.init(bitPattern:)) }
                restored.append(
                    WrittenFile(
                        path: Array(names.joined(separator: [0x2F])), id: entry.id,
                        isExecutable: entry.kind == .executable, bytes: Int(now.st_size),
                        modified: (now.modifiedTime.tv_sec, now.modifiedTime.tv_nsec)))
            }
        }
    }

    /// A folder as steps left it, and its entries in the tree by the bytes of their names.
    private func look(
        _ folder: Int32, path: [[CChar]], _ tree: OID?, _ repository: Repository
    ) throws -> (stat, [[UInt8]: TreeEntry]) {
        guard path.count < LayerSealing.deepest else {
            throw Obstacle(description: "its folders are nested \(path.count) deep")
        }
        var info = stat()
        guard fstat(folder, &info) == 0 else { throw Errno(rawValue: errno) }
        let entries = try tree.map { try repository.entries(ofTree: $0, recursive: false) } ?? []
        // As texts, two Unicode spellings of a name would be the same.
        let tracked = Dictionary(entries.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        guard tracked.count == entries.count else {
            throw Obstacle(description: "names in /\(text(path)) are not UTF-8")
        }
        return (info, tracked)
    }

    /// Makes a tracked file that a step wrote equal to the one in the layers below.
    ///
    /// - If its content differs, everything that was built from it must be built again: the file is written again, with
    ///   the present time.
    /// - If its content is the same, it may have been different in between. It keeps the time at which it came to this
    ///   folder, which no step can set: what was built before is older than that, what was built since is not.
    /// - If only its mode or owner was changed, it goes, and the file below shows through. That is so if it has the
    ///   time of the file below, is the kernel's copy, and nothing was moved in its folder. A file whose content was
    ///   overwritten in place and restored with its time, as by `cp -p`, looks the same.
    ///
    /// - Parameter folderInfo: Of the folder, as steps left it.
    /// - Returns: What it is now; nil where the one below shows through.
    private func restore(
        _ name: [CChar], in folder: Int32, _ folderInfo: stat, path: [[CChar]], _ info: stat
    ) throws -> stat? {
        guard let source = try fileBelow(path) else {
            throw Obstacle(description: "\(text(path)) is in no layer below")
        }
        return try source.closeAfter { () -> stat? in
            var times: [timespec]?
            if info.st_mode & S_IFMT == S_IFREG {
                let written = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                guard written >= 0 else { throw Errno(rawValue: errno) }
                let file = FileDescriptor(rawValue: written)
                let (isSame, isCopy) = try file.closeAfter { (try isEqual(file, source), Whiteouts.isCopy(written)) }
                if isSame {
                    var below = stat()
                    guard fstat(source.rawValue, &below) == 0 else { throw Errno(rawValue: errno) }
                    if isCopy, info.modifiedTime == below.modifiedTime,
                        try folderTimeBelow(path.dropLast()).map({ $0 == folderInfo.modifiedTime }) ?? false
                    {
                        try remove(name, in: folder, false)
                        return nil
                    }
                    times = [info.changedTime, info.changedTime]
                }
            }
            try remove(name, in: folder, info.st_mode & S_IFMT == S_IFDIR)
            let made = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard made >= 0 else { throw Errno(rawValue: errno) }
            let file = FileDescriptor(rawValue: made)
            return try file.closeAfter { () -> stat? in
                try source.seek(offset: 0, from: .start)
                while case let piece = try read(source), !piece.isEmpty { try file.writeAll(piece) }
                var mode = stat()
                guard fstat(source.rawValue, &mode) == 0, fchmod(made, mode.st_mode & 0o777) == 0,
                    fchown(made, layer.owner, layer.group) == 0, times.map({ futimens(made, $0) }) ?? 0 == 0,
                    fstat(made, &mode) == 0
                else { throw Errno(rawValue: errno) }
                return mode
            }
        }
    }

    /// The newest version of a tracked file in the layers below; nil if they have none.
    private func fileBelow(_ path: [[CChar]]) throws -> FileDescriptor? {
        try below(path) { folder, name in
            let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { return nil }
            var info = stat()
            guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
                close(file)
                return .some(nil)
            }
            return FileDescriptor(rawValue: file)
        } ?? nil
    }

    /// When the entries of a folder last changed, in the newest layer below that has it.
    private func folderTimeBelow(_ path: ArraySlice<[CChar]>) throws -> timespec? {
        guard !path.isEmpty else {
            var info = stat()
            return lower.first.flatMap { lstat($0.path, &info) == 0 ? info.modifiedTime : nil }
        }
        return try below(Array(path)) { folder, name in
            var info = stat()
            return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.modifiedTime : nil
        }
    }

    /// The same for a tracked link: its target.
    private func linkBelow(_ path: [[CChar]]) throws -> [UInt8]? {
        try below(path) { folder, name in
            var info = stat()
            guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
            return .some(try target(of: name, in: folder, info))
        } ?? nil
    }

    /// The target of a link; nil for anything else.
    private func target(of name: [CChar], in folder: Int32, _ info: stat) throws -> [UInt8]? {
        guard info.st_mode & S_IFMT == S_IFLNK else { return nil }
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlinkat(folder, name, &room, room.count)
        guard length >= 0 else { throw Errno(rawValue: errno) }
        return room[..<length].map(UInt8.init(bitPattern:))
    }

    /// What `found` makes of the newest layer below that has the path's folder and, by its answer, the path; nil where
    /// none has.
    ///
    /// - Parameter found: Nil and an `errno` where there is nothing of the name.
    private func below<Found>(
        _ path: [[CChar]], _ found: (_ folder: Int32, _ name: [CChar]) throws -> Found?
    ) throws -> Found? {
        for layer in lower {
            var folder = open(layer.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { throw Errno(rawValue: errno) }
            defer { close(folder) }
            for (number, name) in path.enumerated() {
                if number == path.count - 1 {
                    if let it = try found(folder, name) { return it }
                    try requireAbsence()
                    break
                }
                let next = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY)
                guard next >= 0 else {
                    try requireAbsence()
                    break
                }
                close(folder)
                folder = next
            }
        }
        return nil
    }

    /// After a call that failed: an older layer is asked only where this one has nothing. A file that a failing disk
    /// hides must not be taken for an older version of it.
    private func requireAbsence() throws {
        let problem = errno
        // ENXIO: overlayfs's sign for what was removed, a device.
        guard [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(problem) else { throw Errno(rawValue: problem) }
    }

    private func isEqual(_ one: FileDescriptor, _ other: FileDescriptor) throws -> Bool {
        while true {
            let (first, second) = (try read(one), try read(other))
            guard first == second else { return false }
            if first.isEmpty { return true }
        }
    }

    /// The available bytes, up to 64 KiB; none at the end.
    private func read(_ file: FileDescriptor) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
            while count < room.count {
                let read = try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...]))
                if read == 0 { break }
                count += read
            }
        }
    }

    private func isResult(_ path: [[CChar]]) -> Bool {
        let path = text(path)
        return results.contains { $0.matches(path) }
    }

    private func text(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func text(_ path: [[CChar]]) -> String { path.map(text).joined(separator: "/") }

    private func opened(_ name: [CChar], in folder: Int32) throws -> Int32 {
        let below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard below >= 0 else { throw Errno(rawValue: errno) }
        return below
    }

    private func remove(_ name: [CChar], in folder: Int32, _ isFolder: Bool) throws {
        guard isFolder else {
            guard unlinkat(folder, name, 0) == 0 else { throw Errno(rawValue: errno) }
            return
        }
        try FolderRemoval.remove(name, in: folder)
    }
}
