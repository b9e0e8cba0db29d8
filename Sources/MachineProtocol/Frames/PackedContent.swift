import CZstd

/// The content of a frame, compressed with Zstandard (RFC 8878).
package enum PackedContent {
    /// Less is not worth the time.
    static let least = 1 << 10
    /// The fastest of the standard levels: the connection is to be the slower part.
    private static let level: Int32 = 1

    /// - Returns: The compressed bytes; nil if they would not be clearly fewer, as those of archives and of Git's packs.
    package static func pack(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= least else { return nil }
        let most = bytes.count - bytes.count / 8
        var packed = [UInt8](repeating: 0, count: most)
        let count = ZSTD_compress(&packed, most, bytes, bytes.count, level)
        // An error means that there was not enough room.
        guard ZSTD_isError(count) == 0 else { return nil }
        packed.removeLast(most - count)
        return packed
    }

    /// - Throws: ``FrameProblem`` if the bytes are not those of ``pack(_:)``, or would be more than a frame has.
    package static func unpack(_ packed: [UInt8]) throws(FrameProblem) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Frame.mostContent)
        let count = ZSTD_decompress(&bytes, bytes.count, packed, packed.count)
        guard ZSTD_isError(count) == 0, count > 0 else { throw .outOfTurn("data that can't be unpacked") }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
