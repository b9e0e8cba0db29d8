internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Tells whether any ref of a repository may have moved, without reading packed refs.
///
/// If two stamps of a repository, taken in this process, are equal, no ref moved in between. Git replaces `packed-refs`
/// by a new file, so its inode, size and times show whether it is the same; loose refs are read. Take the stamp before
/// the snapshot that it is for.
public struct RefStamp: Sendable, Equatable {
    private var packed: [Int64] = []
    private var loose = 0
    private var head: String?
    /// Not zero, and different each time, while the file is so young that it could change again within the resolution
    /// of its time (see Git's racy-git.txt).
    private var doubt: UInt64 = 0

    /// - Parameter gitDirectory: From ``Repository/gitDirectory``.
    /// - Returns: Nil if there is something that only a snapshot can decide.
    init?(gitDirectory: String) {
        let common = RefStamp.commonFolder(of: gitDirectory)
        self.init(gitDirectory: gitDirectory, common: common, LooseRefs(in: common))
    }

    /// - Parameter refs: All loose refs of `common`, which were just read.
    init?(gitDirectory: String, common: String, _ refs: LooseRefs) {
        guard !refs.hasOthers else { return nil }
        loose = refs.digest
        head = try? String(contentsOfFile: "\(gitDirectory)/HEAD", encoding: .utf8)
        var info = stat()
        guard stat("\(common)/packed-refs", &info) == 0 else {
            if errno != ENOENT { return nil }
            return
        }
        #if canImport(Darwin)
            let (modified, changed) = (info.st_mtimespec, info.st_ctimespec)
        #else
            let (modified, changed) = (info.st_mtim, info.st_ctim)
        #endif
        packed = [
            Int64(info.st_dev), Int64(bitPattern: UInt64(info.st_ino)), Int64(info.st_size), Int64(modified.tv_sec),
            Int64(modified.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
        ]
        if abs(time(nil) - changed.tv_sec) <= 2 { doubt = .random(in: 1 ... .max) }
    }

    /// The folder with the refs. It differs from `gitDirectory` only for a linked work tree.
    static func commonFolder(of gitDirectory: String) -> String {
        // This is most of an observation's time, and Foundation is slow at finding that a file does not exist.
        guard access("\(gitDirectory)/commondir", F_OK) == 0,
            let text = try? String(contentsOfFile: "\(gitDirectory)/commondir", encoding: .utf8)
        else { return gitDirectory }
        let target = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return target.hasPrefix("/") ? target : "\(gitDirectory)/\(target)"
    }
}
