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

    /// Makes one in `parent`, else in the system's folder for temporary files.
    init(named name: String, in parent: String = FileManager.default.temporaryDirectory.path) throws {
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        let made: String? = template.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, mkdtemp(base) != nil else { return nil }
            return String(cString: base)
        }
        guard let made else {
            let reason = String(cString: strerror(errno))
            throw ScratchFolderError(description: "a folder can't be made in \(parent): \(reason)")
        }
        path = made
    }

    func remove() { try? FolderRemoval.remove(path) }
}

/// Why there is no folder to work in: a full disk, most often.
struct ScratchFolderError: Error, CustomStringConvertible {
    var description: String
}
