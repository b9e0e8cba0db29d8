import Foundation
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A fresh folder that only this user can enter.
struct ScratchFolder {
    let path: String

    /// Creates a folder in `parent`, which is the system's temporary folder by default. Throws ``ProgramCacheError``.
    init(named name: String, in parent: String = FileManager.default.temporaryDirectory.path) throws {
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        let made: String? = template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, mkdtemp(base) != nil else { return nil }
            return String(cString: base)
        }
        guard let made else { throw ProgramCacheError(path: parent, errno: errno) }
        path = made
    }

    func remove() { try? FolderRemoval.remove(path) }
}
