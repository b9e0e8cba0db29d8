#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The stat(2) results of the files that libgit2 reads once, when it opens a repository.
struct RepositoryStamp: Equatable {
    struct Places: Equatable {
        /// Settings, and where objects are: they must be unchanged, to the nanosecond.
        var contents: [String] = []
        /// Folders whose contents may change: they must be the same folders.
        var identities: [String] = []

        /// Nil for a linked work tree, which reads further files.
        init?(of repository: Repository, at path: String) {
            let folder = repository.gitDirectory
            guard folder == repository.commonDirectory else { return nil }
            identities = [path, folder, folder + "/objects"]
            if path != folder { identities.append(path + "/.git") }
            contents = [folder + "/config", folder + "/shallow"]
            for store in repository.objectStores() {
                // A repack removes files that an open repository knows by name.
                contents += [store + "/info/alternates", store + "/pack"]
            }
        }
    }

    private struct Facts: Equatable {
        var device: UInt64
        var inode: UInt64
        /// When it opens a repository, libgit2 refuses one that belongs to another user.
        var owner: UInt32
        var size: Int64 = 0
        var changed: [Int] = []
    }

    let places: Places
    /// Nil for a missing file.
    private let facts: [Facts?]

    init(_ places: Places) {
        self.places = places
        facts =
            places.contents.map { Self.facts($0, isContent: true) }
            + places.identities.map { Self.facts($0, isContent: false) }
    }

    private static func facts(_ path: String, isContent: Bool) -> Facts? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        var facts = Facts(
            device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino), owner: info.st_uid)
        guard isContent else { return facts }
        facts.size = Int64(info.st_size)
        #if canImport(Darwin)
            let (written, changed) = (info.st_mtimespec, info.st_ctimespec)
        #else
            let (written, changed) = (info.st_mtim, info.st_ctim)
        #endif
        facts.changed = [
            Int(written.tv_sec), Int(written.tv_nsec), Int(changed.tv_sec), Int(changed.tv_nsec),
        ]
        return facts
    }
}
