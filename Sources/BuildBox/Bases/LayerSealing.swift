import Engine
import Foundation
import Git
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Makes what the steps of a passed run wrote fit to be a layer: the tracked files are as its commit has them, and nothing
/// is left that a later run could take for its own.
///
/// Only for a layer that nothing writes to any more. It goes by descriptors and follows no link, for steps have filled it.
struct LayerSealing {
    /// What stands in the way of a base; a sentence.
    struct Obstacle: Error, CustomStringConvertible {
        let description: String
    }

    let layer: Layer
    /// What it lies on, newest first.
    let lower: [Layer]
    /// What steps leave as a result, reports and artifacts: the next run must make its own.
    let results: [Glob]

    /// Deeper folders are not sealed: each costs an open descriptor.
    private static let deepest = 200

    /// - Parameter repository: Has the tree.
    func seal(tree: OID, in repository: Repository) throws {
        let folder = open(layer.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Errno(rawValue: errno) }
        try seal(folder, path: [], tree, repository)
    }

    /// Takes `folder` over.
    private func seal(_ folder: Int32, path: [[CChar]], _ tree: OID?, _ repository: Repository) throws {
        guard let listing = fdopendir(folder) else {
            let problem = errno
            close(folder)
            throw Errno(rawValue: problem)
        }
        defer { closedir(listing) }
        guard path.count < LayerSealing.deepest else {
            throw Obstacle(description: "it has \(path.count) folders in folders")
        }
        let entries = try tree.map { try repository.entries(ofTree: $0, recursive: false) } ?? []
        let tracked = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in names(in: listing) {
            let inner = path + [name]
            var info = stat()
            guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw Errno(rawValue: errno) }
            let isFolder = info.st_mode & S_IFMT == S_IFDIR
            guard let entry = tracked[text(name)] else {
                if path.isEmpty && text(name) == ".git" || !isFolder && isResult(inner) {
                    try remove(name, in: folder, isFolder)
                } else if isFolder, !results.isEmpty {
                    try seal(try opened(name, in: folder), path: inner, nil, repository)
                }
                continue
            }
            switch entry.kind {
            case .tree:
                guard isFolder else { throw Obstacle(description: "a step removed the folder \(text(inner))") }
                guard fchmodat(folder, name, 0o755, 0) == 0 else { throw Errno(rawValue: errno) }
                let below = try opened(name, in: folder)
                #if os(Linux)
                    if fgetxattr(below, "user.overlay.opaque", nil, 0) >= 0 {
                        close(below)
                        throw Obstacle(description: "a step made the folder \(text(inner)) anew")
                    }
                #endif
                try seal(below, path: inner, entry.id, repository)
            case .submodule: continue
            case .symlink: try remove(name, in: folder, isFolder)
            case .blob, .executable: try restore(name, in: folder, path: inner, info)
            }
        }
    }

    /// Makes a tracked file that a step wrote what it is below.
    ///
    /// If it has another content there, what was built from this one must be built again: the file is written anew, with
    /// the present time.
    private func restore(_ name: [CChar], in folder: Int32, path: [[CChar]], _ info: stat) throws {
        guard let source = try fileBelow(path) else {
            throw Obstacle(description: "\(text(path)) is in no layer below")
        }
        try source.closeAfter {
            if info.st_mode & S_IFMT == S_IFREG {
                let written = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                guard written >= 0 else { throw Errno(rawValue: errno) }
                let file = FileDescriptor(rawValue: written)
                if try file.closeAfter({ try isEqual(file, source) }) { return try remove(name, in: folder, false) }
            }
            try remove(name, in: folder, info.st_mode & S_IFMT == S_IFDIR)
            let made = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard made >= 0 else { throw Errno(rawValue: errno) }
            let file = FileDescriptor(rawValue: made)
            try file.closeAfter {
                try source.seek(offset: 0, from: .start)
                while case let piece = try read(source), !piece.isEmpty { try file.writeAll(piece) }
                var mode = stat()
                guard fstat(source.rawValue, &mode) == 0, fchmod(made, mode.st_mode & 0o777) == 0,
                    fchown(made, layer.owner, layer.group) == 0
                else { throw Errno(rawValue: errno) }
            }
        }
    }

    /// The newest version of a tracked file in the layers below; nil where they have none.
    private func fileBelow(_ path: [[CChar]]) throws -> FileDescriptor? {
        for layer in lower {
            var folder = open(layer.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { throw Errno(rawValue: errno) }
            defer { close(folder) }
            for (number, name) in path.enumerated() {
                let isLast = number == path.count - 1
                let next = openat(
                    folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (isLast ? 0 : O_DIRECTORY))
                if next < 0 { break }
                guard isLast else {
                    close(folder)
                    folder = next
                    continue
                }
                var info = stat()
                guard fstat(next, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
                    close(next)
                    return nil
                }
                return FileDescriptor(rawValue: next)
            }
        }
        return nil
    }

    private func isEqual(_ one: FileDescriptor, _ other: FileDescriptor) throws -> Bool {
        while true {
            let (first, second) = (try read(one), try read(other))
            guard first == second else { return false }
            if first.isEmpty { return true }
        }
    }

    /// As many bytes as there are, up to 64 KiB; none at the end.
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

    private func names(in listing: OpaquePointer) -> [[CChar]] {
        var names: [[CChar]] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            let isDots = name[0] == 46 && (name[1] == 0 || name[1] == 46 && name[2] == 0)
            if !isDots { names.append(name) }
        }
        return names
    }
}
