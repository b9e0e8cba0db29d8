import Foundation

/// Lock files that a killed process of ours left in repositories that are ours alone.
enum StaleLocks {
    /// Removes `*.lock` of the bare repositories `repositories` that are older than `time`, when we got the state lock.
    ///
    /// A lock of before that belongs to nobody: whoever held it is gone. Repositories that are watched in place are
    /// never touched. Returns the paths of those removed.
    static func remove(in repositories: [String], olderThan time: Date) -> [String] {
        let files = FileManager.default
        var removed: [String] = []
        for repository in repositories {
            let top = ((try? files.contentsOfDirectory(atPath: repository)) ?? []).map { "\(repository)/\($0)" }
            let refs = (files.enumerator(atPath: "\(repository)/refs")?.compactMap { $0 as? String } ?? []).map {
                "\(repository)/refs/\($0)"
            }
            for path in top + refs where path.hasSuffix(".lock") {
                let facts = try? files.attributesOfItem(atPath: path)
                guard facts?[.type] as? FileAttributeType == .typeRegular,
                    let changed = facts?[.modificationDate] as? Date, changed < time, unlink(path) == 0
                else { continue }
                removed.append(path)
            }
        }
        return removed
    }
}
