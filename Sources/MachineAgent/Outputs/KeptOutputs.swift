import Crypto
import Foundation
import MachineProtocol
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stored outputs that the machine keeps for later runs: a file for each, named by its SHA-256, and beside it the list of
/// its pieces.
struct KeptOutputs: Sendable {
    let folder: String
    private static let lists = ".pieces"
    /// The most bytes of stored outputs.
    private static let mostBytes = 64 << 30

    /// - Throws: ``MachineProblem`` for a name that is no SHA-256.
    func path(_ sha256: String) throws -> String {
        let isDigest =
            sha256.utf8.count == 64
            && sha256.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard isDigest else { throw MachineProblem.other("outputs have a name that is no SHA-256") }
        return "\(folder)/\(sha256)"
    }

    /// Whether outputs are kept; they count as used now.
    func has(_ sha256: String) throws -> HasOutputs {
        let isThere = utimes(try path(sha256), nil) == 0
        return HasOutputs(isThere: isThere, hasOthers: !isThere && !lists().isEmpty)
    }

    func forget(_ sha256: String) throws {
        let path = try path(sha256)
        unlink(path)
        unlink(path + Self.lists)
    }

    // MARK: Receiving

    /// Keeps outputs that come whole.
    func take(_ sha256: String, _ next: () throws -> [UInt8]?) throws {
        try write(sha256) { put in while let bytes = try next() { try put(bytes) } }
    }

    /// Keeps outputs of which only some pieces come.
    ///
    /// - Parameters:
    ///   - wanted: The pieces that come.
    ///   - next: Returns more of their bytes.
    func take(
        _ sha256: String, _ list: PieceList, _ sources: [PieceSource?], _ next: () throws -> [UInt8]?
    ) throws {
        var arrived: [UInt8] = []
        func receive(_ length: Int) throws -> [UInt8] {
            while arrived.count < length {
                guard let bytes = try next() else { throw MachineProblem.other("a piece of outputs did not come") }
                arrived += bytes
            }
            defer { arrived.removeFirst(length) }
            return Array(arrived.prefix(length))
        }
        try write(sha256) { put in
            for (piece, source) in zip(list.pieces, sources) {
                let bytes = try source.map { try $0.read(piece.length) } ?? receive(piece.length)
                guard PieceList.Piece(bytes) == piece else {
                    if let source { unlink(source.path) }
                    throw MachineProblem.other("a piece of outputs is damaged")
                }
                try put(bytes)
            }
        }
        guard arrived.isEmpty, try next() == nil else { throw MachineProblem.other("more came than was asked for") }
    }

    /// Writes a file and the list of its pieces, and checks its digest.
    private func write(_ sha256: String, _ body: ((_ put: ([UInt8]) throws -> Void) throws -> Void)) throws {
        let target = try path(sha256)
        let new = "\(folder)/.\(UInt64.random(in: .min ... .max))"
        defer { unlink(new) }
        var (digest, bytes, list, cutter) = (SHA256(), 0, PieceList(), PieceCutter())
        let file = try FileDescriptor.open(
            FilePath(new), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
            permissions: .ownerReadWrite)
        try file.closeAfter {
            try body { piece in
                bytes += piece.count
                guard bytes <= Self.mostBytes else { throw MachineProblem.other("more data came than is allowed") }
                digest.update(data: piece)
                piece.withUnsafeBytes { cutter.cut($0) { list.pieces.append(PieceList.Piece($0)) } }
                try file.writeAll(piece)
            }
        }
        cutter.finish { list.pieces.append(PieceList.Piece($0)) }
        guard digest.finalize().map(Self.hex).joined() == sha256 else {
            throw MachineProblem.other("the outputs did not arrive as they were sent")
        }
        guard rename(new, target) == 0 else { throw Errno(rawValue: errno) }
        // Without its list, nothing but later transfers is slower.
        try? Data(list.bytes).write(to: URL(fileURLWithPath: target + Self.lists), options: .atomic)
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    // MARK: Pieces

    /// Where a piece is on this machine.
    struct PieceSource: Sendable, Equatable {
        let path: String
        let offset: Int

        func read(_ length: Int) throws -> [UInt8] {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .noFollow])
            return try file.closeAfter {
                var (bytes, filled) = ([UInt8](repeating: 0, count: length), 0)
                while filled < length {
                    let count = try bytes.withUnsafeMutableBytes { buffer in
                        try file.read(
                            fromAbsoluteOffset: Int64(offset + filled),
                            into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                    }
                    guard count > 0 else { throw MachineProblem.other("kept outputs are shorter than they were") }
                    filled += count
                }
                return bytes
            }
        }
    }

    /// Where the pieces of a list are among the kept outputs; nil for those that are not there.
    func sources(of list: PieceList) -> [PieceSource?] {
        var missing = Set(list.pieces)
        var found: [PieceList.Piece: PieceSource] = [:]
        for name in lists() where !missing.isEmpty {
            let path = "\(folder)/\(name.dropLast(Self.lists.count))"
            guard let bytes = FileManager.default.contents(atPath: path + Self.lists),
                let kept = PieceList([UInt8](bytes)), access(path, R_OK) == 0
            else { continue }
            var offset = 0
            for piece in kept.pieces {
                if missing.remove(piece) != nil { found[piece] = PieceSource(path: path, offset: offset) }
                offset += piece.length
            }
        }
        return list.pieces.map { found[$0] }
    }

    private func lists() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(Self.lists) }
    }

    // MARK: Space

    /// Removes the outputs that were not used for the longest time, until the rest has at most `bytes`.
    func trim(to bytes: Int) {
        let files = FileManager.default
        var found: [(path: String, used: Date, bytes: Int)] = []
        for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            guard let facts = try? files.attributesOfItem(atPath: path) else { continue }
            let used = facts[.modificationDate] as? Date ?? .distantPast
            if name.hasPrefix(".") {
                // What no agent finished within a day is finished by none.
                if used.timeIntervalSinceNow < -86_400 { unlink(path) }
            } else if name.hasSuffix(Self.lists) {
                if !files.fileExists(atPath: String(path.dropLast(Self.lists.count))) { unlink(path) }
            } else {
                found.append((path, used, facts[.size] as? Int ?? 0))
            }
        }
        var left = bytes
        for one in found.sorted(by: { $0.used > $1.used }) {
            left -= one.bytes
            guard left < 0 else { continue }
            unlink(one.path)
            unlink(one.path + Self.lists)
        }
    }
}
