#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What stat(2) says of the files that libgit2 reads once, when it opens a repository.
struct RepositoryStamp: Equatable {
    struct Places: Equatable {
        /// Settings, and where objects are: they must be as they were, to the nanosecond.
        var contents: [String] = []
        /// Folders in which things come and go: they must be the same ones.
        var identities: [String] = []

        /// Nil for a linked work tree, which reads more than this.
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
        /// libgit2 refuses what belongs to another user, when it is opened.
        var owner: UInt32
        var size: Int64 = 0
        var changed: [Int] = []
    }

    let places: Places
    /// Nil for what is not there.
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
