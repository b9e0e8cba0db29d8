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

/// Makes what a passed run wrote fit to be a layer: the tracked files are as its commit has them, and nothing is left that
/// a later run could take for its own.
///
/// Only for a layer that nothing writes to any more. It goes by descriptors and follows no link, for steps have filled it.
struct LayerSealing {
    /// What stands in the way of a base; a sentence.
    struct Obstacle: Error, CustomStringConvertible {
        let description: String
    }

    /// Tracked paths that the box wrote itself, as the difference to the base below.
    let written: Set<String>
    /// What steps leave as a result, reports and artifacts: the next run must make its own.
    let results: [Glob]

    /// - Parameters:
    ///   - layer: The folder, absolute.
    ///   - repository: Has the tree and its blobs.
    func seal(_ layer: String, tree: OID, in repository: Repository) throws {
        let folder = open(layer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Errno(rawValue: errno) }
        var seen: Set<String> = []
        try seal(folder, path: "", tree, repository, &seen)
        if let lost = try written.first(where: { try !seen.contains($0) && isTracked($0, tree, repository) }) {
            throw Obstacle(description: "a step removed \(lost), which the box had written")
        }
    }

    /// Takes `folder` over.
    private func seal(
        _ folder: Int32, path: String, _ tree: OID?, _ repository: Repository, _ seen: inout Set<String>
    ) throws {
        guard let listing = fdopendir(folder) else {
            let problem = errno
            close(folder)
            throw Errno(rawValue: problem)
        }
        defer { closedir(listing) }
        let entries = try tree.map { try repository.entries(ofTree: $0, recursive: false) } ?? []
        let tracked = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in names(in: listing) {
            let text = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            let inner = path.isEmpty ? text : "\(path)/\(text)"
            var info = stat()
            guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw Errno(rawValue: errno) }
            let isFolder = info.st_mode & S_IFMT == S_IFDIR
            guard let entry = tracked[text] else {
                if path.isEmpty && text == ".git" || !isFolder && results.contains(where: { $0.matches(inner) }) {
                    try remove(name, in: folder, isFolder)
                } else if isFolder, !results.isEmpty {
                    try seal(try opened(name, in: folder), path: inner, nil, repository, &seen)
                }
                continue
            }
            switch entry.kind {
            case .tree:
                guard isFolder else {
                    try remove(name, in: folder, false)
                    continue
                }
                guard fchmodat(folder, name, 0o755, 0) == 0 else { throw Errno(rawValue: errno) }
                let below = try opened(name, in: folder)
                // A folder that was removed and made anew hides what lies below it; tracked files must not be hidden.
                #if os(Linux)
                    fremovexattr(below, "user.overlay.opaque")
                #endif
                try seal(below, path: inner, entry.id, repository, &seen)
            case .submodule: continue
            case .blob, .executable, .symlink:
                // Without what a step made of it, the file below shows again, with its own times.
                guard written.contains(inner) else {
                    try remove(name, in: folder, isFolder)
                    continue
                }
                seen.insert(inner)
                guard try isUnchanged(name, in: folder, info, entry, repository) else {
                    throw Obstacle(description: "a step changed \(inner), which the box had written")
                }
            }
        }
    }

    /// Whether a file is as the box wrote it.
    private func isUnchanged(
        _ name: [CChar], in folder: Int32, _ info: stat, _ entry: TreeEntry, _ repository: Repository
    ) throws -> Bool {
        let bytes = try repository.blob(entry.id)
        guard Int(info.st_size) == bytes.count else { return false }
        if entry.kind == .symlink {
            guard info.st_mode & S_IFMT == S_IFLNK else { return false }
            let target = [CChar](unsafeUninitializedCapacity: bytes.count + 1) { room, count in
                guard let start = room.baseAddress else { return }
                count = max(readlinkat(folder, name, start, room.count), 0)
            }
            return target.elementsEqual(bytes.map(CChar.init(bitPattern:)))
        }
        guard info.st_mode & S_IFMT == S_IFREG, (info.st_mode & 0o100 != 0) == (entry.kind == .executable) else {
            return false
        }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        let descriptor = FileDescriptor(rawValue: file)
        return try descriptor.closeAfter {
            var content = [UInt8](repeating: 0, count: bytes.count)
            var filled = 0
            while filled < content.count {
                let count = try content.withUnsafeMutableBytes {
                    try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
                }
                if count == 0 { return false }
                filled += count
            }
            return content == bytes
        }
    }

    private func isTracked(_ path: String, _ tree: OID, _ repository: Repository) throws -> Bool {
        var id = tree
        let parts = path.split(separator: "/").map(String.init)
        for (number, part) in parts.enumerated() {
            let found = try repository.entries(ofTree: id, recursive: false).first { $0.name == part }
            guard let found else { return false }
            if number == parts.count - 1 { return found.kind != .submodule }
            guard found.kind == .tree else { return false }
            id = found.id
        }
        return false
    }

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
