import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a pipectl that was killed has left in our own Git repositories, and nobody else ever removes.
///
/// libgit2 never clears a `.lock` file: the ref or file beside it could not be written for ever. A half-written pack
/// is not removed by `git gc` either. The watched repositories are not ours: nothing is touched there.
enum DeadLeftovers {
    /// Removes them from every repository below the state folder; returns the paths of the locks.
    ///
    /// - Parameter start: When this process took the state's lock. What is younger may belong to a child that is
    ///   alive; whatever is older belongs to nobody.
    static func clear(_ state: StateFolder, olderThan start: Date) -> [String] {
        var locks: [String] = []
        for repository in repositories(of: state) {
            let files = FileManager.default.enumerator(atPath: repository)
            while let name = files?.nextObject() as? String {
                let path = "\(repository)/\(name)"
                let last = (name as NSString).lastPathComponent
                let isLock = last.hasSuffix(".lock")
                guard isLock || last.hasPrefix("pack_git2_") || last.hasPrefix("tmp_object_git2_") else { continue }
                guard let facts = try? FileManager.default.attributesOfItem(atPath: path),
                    facts[.type] as? FileAttributeType == .typeRegular,
                    let changed = facts[.modificationDate] as? Date, changed < start, unlink(path) == 0
                else { continue }
                if isLock { locks.append(path) }
            }
        }
        return locks
    }

    private static func repositories(of state: StateFolder) -> [String] {
        let mirrors = (try? FileManager.default.contentsOfDirectory(atPath: state.mirrors)) ?? []
        return [state.archive] + mirrors.map { "\(state.mirrors)/\($0)" }
    }
}
