import Foundation
import Git

/// The file that keeps ``KnownCommits`` from one observation to the next. It has numbers of fixed width in the
/// machine's byte order.
///
/// It consists of a signature and four counts; the ids of the history and of the other commits; the number of parents
/// of each; the parents as positions in this order; three numbers for the author and title of each other commit; and a
/// checksum. Each parent comes before its children. Any other file is ignored, because the commits can be read from the
/// repository again.
extension KnownCommits {
    /// Nil if there is no such file, or if it is not in this form.
    init?(file path: String) {
        guard let file = try? MappedFile(path) else { return nil }
        self.init(bytes: file.bytes)
    }

    /// Replaces the file if that saves the next observation work. If it can't be written, that costs only time.
    ///
    /// - Parameter heads: The heads of changes. Commits that none of them contains are left out.
    func keep(in path: String, for heads: [OID]) {
        // Reading fewer commits again is faster than writing the file.
        guard reads >= 100, !isCut, let bytes = bytes(for: heads) else { return }
        try? Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static let mark: UInt64 = 0x3144_4E4C_4350_4950
    /// The most commits that are kept.
    private static let most = 4_000_000
    private static let idSize = 20
    private static let makerSize = 24

    /// Nil if there are too many.
    func bytes(for heads: [OID]) -> [UInt8]? {
        let others = own(of: heads)
        guard history.count + others.count <= Self.most else { return nil }
        var places = places
        var (counts, parents, ids, makers): ([UInt16], [UInt32], [UInt8], [UInt64]) = ([], [], [], [])
        for line in history {
            guard let count = UInt16(exactly: line.parents.count) else { return nil }
            ids += line.id.bytes
            counts.append(count)
            for parent in line.parents { parents.append(UInt32(parent)) }
        }
        for (number, commit) in others.enumerated() {
            guard let count = UInt16(exactly: commit.parents.count) else { return nil }
            places[commit.id] = history.count + number
            ids += commit.id.bytes
            counts.append(count)
            for parent in commit.parents { parents.append(UInt32(places[parent] ?? 0)) }
            makers += [commit.maker.email, commit.maker.name, commit.maker.title]
        }
        var bytes: [UInt8] = []
        let head = [Self.mark, UInt64(history.count), UInt64(others.count), UInt64(parents.count)]
        head.withUnsafeBytes { bytes += $0 }
        bytes += ids
        counts.withUnsafeBytes { bytes += $0 }
        parents.withUnsafeBytes { bytes += $0 }
        makers.withUnsafeBytes { bytes += $0 }
        let sum = bytes.withUnsafeBytes { Self.sum($0) }
        withUnsafeBytes(of: sum) { bytes += $0 }
        return bytes
    }

    /// Reads the result of ``bytes(for:)``; nil for anything else.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 40 else { return nil }
        func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
        let most = UInt64(Self.most)
        guard word(0) == Self.mark, word(8) <= most, word(16) <= most, word(24) <= most * 16 else { return nil }
        let (historyCount, otherCount, parentCount) = (Int(word(8)), Int(word(16)), Int(word(24)))
        let count = historyCount + otherCount
        let counts = 32 + count * Self.idSize
        let parents = counts + count * 2
        let makers = parents + parentCount * 4
        let end = makers + otherCount * Self.makerSize
        guard bytes.count == end + 8, word(end) == Self.sum(UnsafeRawBufferPointer(rebasing: bytes[..<end])) else {
            return nil
        }
        func id(_ place: Int) -> OID {
            OID(bytes, at: 32 + place * Self.idSize)
        }
        var next = parents
        var history: [Line] = []
        var own: [OwnCommit] = []
        history.reserveCapacity(historyCount)
        own.reserveCapacity(otherCount)
        for place in 0..<count {
            let number = Int(bytes.loadUnaligned(fromByteOffset: counts + place * 2, as: UInt16.self))
            guard next + number * 4 <= makers else { return nil }
            var found: [Int] = []
            found.reserveCapacity(number)
            for _ in 0..<number {
                let parent = Int(bytes.loadUnaligned(fromByteOffset: next, as: UInt32.self))
                guard parent < place else { return nil }
                found.append(parent)
                next += 4
            }
            if place < historyCount {
                history.append(Line(id: id(place), parents: found))
            } else {
                let at = makers + (place - historyCount) * Self.makerSize
                let maker = Maker(email: word(at), name: word(at + 8), title: word(at + 16))
                own.append(OwnCommit(id: id(place), parents: found.map(id), maker: maker))
            }
        }
        self.init(history: history, own: own)
    }

    /// A checksum, which detects a damaged file.
    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var (sum, place) = (UInt64(bytes.count), 0)
        while place < bytes.count {
            var word: UInt64 = 0
            if place + 8 <= bytes.count {
                word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            } else {
                for byte in bytes[place...] { word = word << 8 | UInt64(byte) }
            }
            sum = (sum ^ word) &* 0x0000_0100_0000_01B3
            sum ^= sum >> 32
            place += 8
        }
        return sum
    }
}
