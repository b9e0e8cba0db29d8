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

/// Makes what the steps of a passed run wrote fit to be a layer: the tracked files are as its commit has them, and nothing is left that
/// a later run could take for its own.
///
/// Only for a layer that nothing writes to any more. It goes by descriptors and follows no link, for steps have filled it.
struct LayerSealing {
    /// What steps leave as a result, reports and artifacts: the next run must make its own.
    let results: [Glob]

    /// - Parameters:
    ///   - layer: The folder, absolute.
    ///   - repository: Has the tree and its blobs.
    func seal(_ layer: String, tree: OID, in repository: Repository) throws {
        let folder = open(layer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Errno(rawValue: errno) }
        try seal(folder, path: "", tree, repository)
    }

    /// Takes `folder` over.
    private func seal(
        _ folder: Int32, path: String, _ tree: OID?, _ repository: Repository
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
                    try seal(try opened(name, in: folder), path: inner, nil, repository)
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
                try seal(below, path: inner, entry.id, repository)
            case .submodule: continue
            case .blob, .executable, .symlink:
                // Without what a step made of it, the file below shows again, with its own times.
                try remove(name, in: folder, isFolder)
            }
        }
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
