import MachineProtocol
import TestBasics
import Testing

struct PieceTests {
    private let bytes: [UInt8] = {
        var random = SplitMix64(seed: 7)
        return (0..<2_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    private func pieces(_ bytes: [UInt8], feeding step: Int = 1 << 18) -> [[UInt8]] {
        var (cutter, pieces) = (PieceCutter(), [[UInt8]]())
        for start in stride(from: 0, to: bytes.count, by: step) {
            bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { cutter.cut($0) { pieces.append($0) } }
        }
        cutter.finish { pieces.append($0) }
        return pieces
    }

    @Test func `pieces are the same however the bytes come`() {
        let whole = pieces(bytes)
        #expect(whole.flatMap { $0 } == bytes && whole.count > 5)
        #expect(whole.dropLast().allSatisfy { (PieceCutter.least...PieceCutter.most).contains($0.count) })
        for step in [977, 32_768, 2_000_000] { #expect(pieces(bytes, feeding: step) == whole) }
    }

    @Test func `an insertion changes only the pieces around it`() {
        let before = Set(pieces(bytes))
        let after = pieces(Array(bytes[..<1_000_000]) + [1, 2, 3] + bytes[1_000_000...])
        #expect(after.filter { !before.contains($0) }.count <= 3)
    }

    @Test func `bytes without any place to cut are cut at the most`() {
        let flat = [UInt8](repeating: 0, count: 3 * PieceCutter.most + 5)
        #expect(pieces(flat).map(\.count).max() == PieceCutter.most)
        #expect(pieces(flat).flatMap { $0 } == flat)
    }

    @Test func `lists survive the way, and others are refused`() throws {
        let list = PieceList([PieceList.Piece([1, 2, 3]), PieceList.Piece([UInt8](repeating: 9, count: 70_000))])
        #expect(PieceList(list.bytes) == list)
        #expect(PieceList(Array(list.bytes.dropLast())) == nil)
        // A piece of no bytes, and one that is too long.
        #expect(PieceList([0, 0, 0, 0] + list.bytes[4...]) == nil)
        #expect(PieceList([0xFF, 0, 0, 0] + list.bytes[4...]) == nil)
        let wanted = try #require(WantedPieces(WantedPieces([true, false, true]).bytes, count: 3))
        #expect((0..<3).map { wanted[$0] } == [true, false, true])
        #expect(WantedPieces([1, 2], count: 3) == nil)
    }
}
