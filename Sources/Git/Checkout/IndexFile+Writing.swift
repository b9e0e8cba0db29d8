internal import Crypto
internal import Foundation

extension IndexFile {
    /// Writes the pieces, which begin with a header, and their checksum to the new file `path`.
    static func write(
        _ pieces: [IndexPatch.Piece], of old: UnsafeRawBufferPointer, to path: String
    ) throws(GitError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(old.count)
        for piece in pieces {
            switch piece {
            case .kept(let range): bytes += old[range]
            case .added(let added): bytes += added
            }
        }
        bytes += Insecure.SHA1.hash(data: bytes)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem(path, errno) }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            // Some file systems write nothing, without an error, when they are full.
            guard count > 0 else { throw problem(path, count < 0 ? errno : ENOSPC) }
            done += count
        }
    }

    private static func problem(_ path: String, _ code: Int32) -> GitError {
        GitError(
            call: "index", code: .failed,
            message: "\"\(path)\" can't be written: \(String(cString: strerror(code))). Check its disk.",
            systemError: code)
    }
}
