import Concurrency
import Crypto
package import Foundation
package import Results

/// The files that were handed over with tasks, by the digest of their bytes.
package struct TaskFiles: Sendable {
    /// An absolute path; made with the first file.
    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// Keeps a file. Repeating it changes nothing. It is on disk when this returns.
    func keep(_ content: Data, named name: String) async throws -> ReleaseRecord.File {
        try await offThread {
            let sha256 = SHA256.hash(data: content).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                .joined()
            let path = path(of: sha256)
            if !FileManager.default.fileExists(atPath: path) {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                let new = "\(folder)/new-\(UUID().uuidString)"
                try content.write(to: URL(filePath: new))
                let file = try FileHandle(forUpdating: URL(filePath: new))
                try file.synchronize()
                try file.close()
                guard rename(new, path) == 0 else {
                    throw TaskFailure.unusable("the file \"\(path)\" can't be written; check its folder's owner")
                }
            }
            return ReleaseRecord.File(name: name, bytes: content.count, sha256: sha256)
        }
    }

    /// The bytes of a file.
    package func read(_ file: ReleaseRecord.File) async throws -> Data {
        try await offThread { try Data(contentsOf: URL(filePath: path(of: file.sha256))) }
    }

    /// Where a file is.
    package func path(of sha256: String) -> String { "\(folder)/\(sha256)" }
}
