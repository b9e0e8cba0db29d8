/// Cuts a stream of bytes into pieces at places that its content decides, so that equal parts of two streams are equal
/// pieces wherever they lie.
///
/// A piece ends where a hash of the 64 bytes before has 17 zero bits (a gear hash: Xia et al., "FastCDC", 2016). Both sides
/// of a connection cut alike.
package struct PieceCutter {
    /// The fewest bytes of a piece, but for the last one.
    package static let least = 1 << 15
    /// The most bytes of a piece.
    package static let most = 1 << 19
    private static let mask: UInt64 = ~0 << (64 - 17)

    private var piece: [UInt8] = []
    private var hash: UInt64 = 0

    package init() { piece.reserveCapacity(Self.most) }

    /// Takes more of the stream, and passes on each piece that is complete.
    package mutating func cut(_ bytes: UnsafeRawBufferPointer, _ pass: ([UInt8]) throws -> Void) rethrows {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, isEnd) = Self.end(in: UnsafeRawBufferPointer(rebasing: rest), after: piece.count, &hash)
            piece += rest.prefix(count)
            rest = rest.dropFirst(count)
            if isEnd { try passPiece(pass) }
        }
    }

    /// Passes on the last piece.
    package mutating func finish(_ pass: ([UInt8]) throws -> Void) rethrows {
        if !piece.isEmpty { try passPiece(pass) }
    }

    private mutating func passPiece(_ pass: ([UInt8]) throws -> Void) rethrows {
        defer {
            piece.removeAll(keepingCapacity: true)
            hash = 0
        }
        try pass(piece)
    }

    /// How many bytes still belong to a piece that has `known` bytes, and whether it ends there.
    private static func end(
        in bytes: UnsafeRawBufferPointer, after known: Int, _ hash: inout UInt64
    ) -> (count: Int, isEnd: Bool) {
        let most = min(bytes.count, Self.most - known)
        // What is more than 64 bytes before the first possible end has no effect on the hash there.
        var place = min(max(Self.least - 64 - known, 0), most)
        var value = hash
        while place < most {
            value = (value << 1) &+ gear[Int(bytes[place])]
            place += 1
            if value & mask == 0, known + place >= Self.least {
                hash = 0
                return (place, true)
            }
        }
        hash = value
        return (most, known + most == Self.most)
    }

    /// A number for each byte, from the generator splitmix64.
    private static let gear: [UInt64] = {
        var state: UInt64 = 0
        return (0..<256).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }()
}
