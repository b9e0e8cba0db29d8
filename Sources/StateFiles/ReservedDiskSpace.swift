import Foundation

/// A file that is deleted when the disk of the state folder is full, so that verdicts can still be recorded.
package struct ReservedDiskSpace: Sendable {
    /// The size of the file: enough for the reports and logs of the runs that are under way.
    package static let bytes = 4 << 20

    let path: String

    package init(path: String) { self.path = path }

    /// Deletes the file; false if it was gone already.
    package func release() -> Bool { unlink(path) == 0 }

    /// Whether the file is there in its full size.
    package var isWhole: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= ReservedDiskSpace.bytes
    }

    /// Writes the file again if it is gone and four times its size is free. Blocks.
    package func renew() {
        guard !isWhole else { return }
        let folder = (path as NSString).deletingLastPathComponent
        guard let free = DiskSpace.free(at: folder), free >= 4 * ReservedDiskSpace.bytes else { return }
        // Not zeros: some file systems store no blocks for them.
        var numbers = (0..<ReservedDiskSpace.bytes / 8).map { UInt64(truncatingIfNeeded: $0) &* 0x9E37_79B9_7F4A_7C15 }
        for place in numbers.indices {
            numbers[place] = (numbers[place] ^ numbers[place] >> 29) &* 0xBF58_476D_1CE4_E5B9
        }
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let isWhole = numbers.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = write(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
                if count <= 0 { return false }
                done += count
            }
            return fsync(file) == 0
        }
        close(file)
        if !isWhole || rename(new, path) != 0 { unlink(new) }
    }
}
