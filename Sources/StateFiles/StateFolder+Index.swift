internal import Foundation

extension StateFolder {
    /// Renames the index, damaged or not, so that a new one can be made; returns the name that it has now.
    public func setIndexAside() throws -> String? {
        let stamp = Int(Date().timeIntervalSince1970)
        let kept = "\(index).\(stamp)"
        // The write-ahead log belongs to its database: the three move together.
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: index + suffix) {
            try FileManager.default.moveItem(atPath: index + suffix, toPath: kept + suffix)
        }
        return FileManager.default.fileExists(atPath: kept) ? kept : nil
    }
}
