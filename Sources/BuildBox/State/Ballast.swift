import Foundation

/// Bytes on the state folder's disk that are given up when it is full, so that verdicts can still be recorded.
struct Ballast: Sendable {
    /// Enough for the reports and logs of the runs that are under way.
    static let bytes = 4 << 20

    let path: String

    /// Gives the room back to the disk; false if it was given up before.
    func giveUp() -> Bool { unlink(path) == 0 }

    var isWhole: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= Ballast.bytes
    }

    /// Makes it again when there is room for four of it; nothing if it is there. Blocks.
    func renew() {
        guard !isWhole else { return }
        let folder = (path as NSString).deletingLastPathComponent
        guard let free = BoxTools.freeBytes(at: folder), free >= 4 * Ballast.bytes else { return }
        // Not zeros, which some file systems keep for nothing.
        var numbers = (0..<Ballast.bytes / 8).map { UInt64(truncatingIfNeeded: $0) &* 0x9E37_79B9_7F4A_7C15 }
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
