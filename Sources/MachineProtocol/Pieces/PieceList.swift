import Crypto

/// The pieces of a file, in order: 4 bytes of length (big-endian) and 32 of SHA-256 for each.
package struct PieceList: Sendable, Equatable {
    package struct Piece: Sendable, Hashable {
        package var length: Int
        /// SHA-256.
        package var digest: [UInt8]

        package init(_ bytes: [UInt8]) {
            length = bytes.count
            digest = Array(SHA256.hash(data: bytes))
        }

        fileprivate init(length: Int, digest: [UInt8]) { (self.length, self.digest) = (length, digest) }
    }

    package var pieces: [Piece] = []
    private static let size = 36
    /// Enough for 64 GiB of outputs.
    package static let mostBytes = 128 << 20

    package init(_ pieces: [Piece] = []) { self.pieces = pieces }

    /// - Returns: Nil if the bytes are no list.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.mostBytes, bytes.count % Self.size == 0 else { return nil }
        for start in stride(from: 0, to: bytes.count, by: Self.size) {
            let length = bytes[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard (1...PieceCutter.most).contains(length) else { return nil }
            pieces.append(Piece(length: length, digest: Array(bytes[(start + 4)..<(start + Self.size)])))
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieces.count * Self.size)
        for piece in pieces {
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: piece.length >> $0) }
            bytes += piece.digest
        }
        return bytes
    }
}

/// Which pieces of a list are wanted, a bit for each.
package struct WantedPieces: Sendable, Equatable {
    package private(set) var bytes: [UInt8]

    package init(_ isWanted: [Bool]) {
        bytes = [UInt8](repeating: 0, count: (isWanted.count + 7) / 8)
        for (index, wanted) in isWanted.enumerated() where wanted { bytes[index / 8] |= 1 << (index % 8) }
    }

    /// - Returns: Nil if there are not as many bits as pieces.
    package init?(_ bytes: [UInt8], count: Int) {
        guard bytes.count == (count + 7) / 8 else { return nil }
        self.bytes = bytes
    }

    package subscript(_ index: Int) -> Bool { bytes[index / 8] & (1 << (index % 8)) != 0 }
}
