package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Temporary files that a killed pipectl left in its own Git repositories.
///
/// libgit2 never removes a `.lock` file, and the file beside it can't be written until that is done; `git gc` does not
/// remove half-written packs. Nothing is touched in the watched repositories, which are not ours.
package enum StaleTemporaryFiles {
    /// Removes them from every repository in the state folder, and returns the paths of the removed locks. Blocks.
    ///
    /// - Parameter start: When this process took the lock of the state folder. A younger file may belong to a running
    ///   child of this process; an older one belongs to nobody.
    package static func remove(from state: StateFolder, olderThan start: Date) -> [String] {
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
