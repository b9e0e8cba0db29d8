import Foundation
package import Pipeline
import Results
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder of this machine that untrusted code wrote.
///
/// Each path is opened component by component without following links, so nothing outside the folder is read even when
/// links are exchanged meanwhile; only regular files count, and `.git` is never entered.
package struct LocalFiles: FileSource {
    let root: FilePath
    /// Which links are found where links are searched for.
    let links: OutputLink

    package func search(_ globs: [Glob], _ limits: FileLimits, findsLinks: Bool) -> FileSearch {
        let top = openRoot()
        guard top >= 0 else {
            var search = FileSearch()
            let gap = WorkspaceFileProblem(path: ".", of: Errno(rawValue: errno))
            search.gap = gap
            if gap.machineError == nil { search.problems.append("the workspace can't be opened: \(gap.reason)") }
            return search
        }
        var walk = FileWalk(globs: globs, limits: limits, links: findsLinks ? links : nil)
        walk.visit(top, "", depth: 0)
        walk.search.matches.sort { $0.path < $1.path }
        walk.search.emptyFolders.sort()
        return walk.search
    }

    package func read(
        _ path: String, atMost limit: Int, _ keep: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let file = try open(path, atMost: limit)
        defer { close(file) }
        var bytes = 0
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Foundation.read(file, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw WorkspaceFileProblem(path: path, of: Errno(rawValue: errno)) }
            if count == 0 { return bytes }
            bytes += count
            guard bytes <= limit else { throw LocalFiles.tooLarge(path, limit) }
            try piece.withUnsafeBytes { try keep(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    private static func tooLarge(_ path: String, _ limit: Int) -> WorkspaceFileProblem {
        WorkspaceFileProblem(
            path: path, reason: "it is larger than \(Figures.grouped(limit)) bytes, the limit for one file")
    }

    private func open(_ path: String, atMost limit: Int) throws -> Int32 {
        // The path is split by bytes, as the kernel does it: Swift does not find a slash that a combining character
        // follows.
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let name = parts.last, !parts.contains(".."), !path.hasPrefix("/") else {
            throw WorkspaceFileProblem(path: path, reason: "the path leaves the workspace")
        }
        var folder = openRoot()
        var code = Errno(rawValue: errno)
        for part in parts.dropLast() where folder >= 0 {
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            code = Errno(rawValue: errno)
            close(folder)
            folder = next
        }
        guard folder >= 0 else {
            let problem = WorkspaceFileProblem(path: path, of: code)
            throw problem.machineError != nil
                ? problem : WorkspaceFileProblem(path: path, reason: "its folder is gone or a link")
        }
        defer { close(folder) }
        // O_NONBLOCK: a fifo in its place must not block us.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            let code = Errno(rawValue: errno)
            if code == .tooManySymbolicLinkLevels { throw WorkspaceFileProblem(path: path, reason: "it is a link") }
            throw WorkspaceFileProblem(path: path, of: code)
        }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw WorkspaceFileProblem(path: path, reason: "it is not a regular file")
        }
        // The size is checked and not the allocated space: a sparse file costs the step nothing, but us its whole size.
        guard info.st_size <= limit else {
            close(file)
            throw LocalFiles.tooLarge(path, limit)
        }
        return file
    }

    /// The root is not opened through a link: where steps run as our own user, a step can replace the folder by one.
    private func openRoot() -> Int32 { Foundation.open(root.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
}

/// A walk through the folders below one folder that may hold a match.
private struct FileWalk {
    let globs: [Glob]
    let limits: FileLimits
    /// Which links are found as if they were files; nil: none.
    let links: OutputLink?
    var search = FileSearch()
    private var entries = 0

    init(globs: [Glob], limits: FileLimits, links: OutputLink?) {
        (self.globs, self.limits, self.links) = (globs, limits, links)
    }

    private mutating func leaveGap(_ path: String, _ code: Errno) {
        // A folder that is gone by now leaves no gap.
        if code != .noSuchFileOrDirectory { search.gap = search.gap ?? WorkspaceFileProblem(path: path, of: code) }
    }

    private mutating func leaveGap(_ path: String, _ reason: String) {
        search.gap = search.gap ?? WorkspaceFileProblem(path: path, reason: reason)
    }

    /// Takes ownership of `folder` and closes it.
    mutating func visit(_ folder: Int32, _ prefix: String, depth: Int) {
        guard let stream = fdopendir(folder) else {
            leaveGap(prefix, Errno(rawValue: errno))
            close(folder)
            return
        }
        defer { closedir(stream) }
        var isEmpty = true
        while !search.isCut {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 {
                    leaveGap(prefix, Errno(rawValue: errno))
                } else if isEmpty, globs.contains(where: { $0.matches(prefix) }) {
                    search.emptyFolders.append(prefix)
                }
                return
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(validatingCString: $0) }
            }
            if name == "." || name == ".." { continue }
            isEmpty = false
            guard let name else {
                leaveGap(prefix, "a name in it is not UTF-8")
                continue
            }
            guard name != ".git" else {
                let path = "\(prefix)/.git"
                if !prefix.isEmpty, globs.contains(where: { $0.canMatch(below: path) }) {
                    leaveGap(path, "it belongs to a repository")
                }
                continue
            }
            guard isWithinLimits() else { return }
            let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
            guard path.utf8.count <= 1_024 else {
                leaveGap(prefix, "a path in it is too long")
                continue
            }
            look(at: name, in: dirfd(stream), path, depth: depth)
        }
    }

    /// Counts one more entry; returns false if the search ends because of it.
    private mutating func isWithinLimits() -> Bool {
        entries += 1
        if entries > limits.entries {
            search.isCut = true
            search.report("more than \(Figures.grouped(limits.entries)) files were checked; use a narrower pattern")
        } else if search.matches.count + search.emptyFolders.count > limits.count {
            search.isCut = true
            search.report(
                "more than \(Figures.grouped(limits.count)) files match; use a narrower pattern or pack them into one")
        }
        return !search.isCut
    }

    private mutating func look(at name: String, in folder: Int32, _ path: String, depth: Int) {
        var info = stat()
        guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
            return leaveGap(path, Errno(rawValue: errno))
        }
        switch info.st_mode & S_IFMT {
        case S_IFDIR:
            guard globs.contains(where: { $0.canMatch(below: path) }) else { return }
            guard depth < limits.depth else {
                return search.report("\(path) is more than \(limits.depth) folders deep and was skipped")
            }
            let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { return leaveGap(path, Errno(rawValue: errno)) }
            visit(next, path, depth: depth + 1)
        case S_IFREG:
            guard globs.contains(where: { $0.matches(path) }) else { return }
            search.matches.append(
                FileMatch(
                    path: path, bytes: Int(info.st_size), isExecutable: info.st_mode & 0o100 != 0, stamp: info.stamp))
        case S_IFLNK:
            look(atLink: name, in: folder, path, info.stamp)
        default:
            if globs.contains(where: { $0.matches(path) }) {
                search.report("\(path) is not a regular file and was skipped")
            }
        }
    }

    private mutating func look(atLink name: String, in folder: Int32, _ path: String, _ stamp: FileStamp) {
        guard globs.contains(where: { $0.matches(path) }) else {
            if globs.contains(where: { $0.leads(through: path) }) {
                search.report("\(path) is a link and was skipped; use the folder itself")
            }
            return
        }
        guard let links, let target = OutputLink.target(of: name, in: folder) else {
            return search.report("\(path) is a link and was skipped; copy the file itself")
        }
        if let problem = links.problem(at: path, to: target) { return search.report("\(path) \(problem)") }
        search.matches.append(
            FileMatch(path: path, target: target, bytes: target.utf8.count, isExecutable: false, stamp: stamp))
    }
}
