/// What tells one build of a program from others, read from the headers of a Mach-O or ELF file.
///
/// Only as much is read as the headers need; what a header says is checked against the size of the file.
public struct ObjectFile: Sendable, Equatable {
    /// One architecture of the file.
    public struct Slice: Sendable, Equatable {
        /// Mach-O's UUID or ELF's build id, as lower-case hex without dashes.
        public var identifier: String
        /// As in `arm64`; nil for one that is not known.
        public var architecture: String?
        /// The address that the file expects its first byte at.
        public var base: UInt64
        public var isMachO: Bool
    }

    public var slices: [Slice]

    /// Reads a range of the file: at most as many bytes, fewer at its end.
    public typealias Read = (_ offset: Int, _ count: Int) throws -> [UInt8]

    /// Nil if it is neither Mach-O nor ELF, or has no identifier.
    public init?(size: Int, read: Read) rethrows {
        let head = ObjectBytes(try read(0, 64))
        let slices: [Slice] =
            switch head.word(at: 0) {
            case 0x464C_457F: try Self.elf(head, size, read)
            case 0xFEED_FACF, 0xFEED_FACE: try Self.machO(at: 0, size, read).map { [$0] } ?? []
            case 0xBEBA_FECA, 0xBFBA_FECA: try Self.fat(head, size, read)
            default: []
            }
        guard !slices.isEmpty else { return nil }
        self.slices = slices
    }

    /// A file with several architectures. Its header is big-endian.
    private static func fat(_ head: ObjectBytes, _ size: Int, _ read: Read) rethrows -> [Slice] {
        let isLong = head.word(at: 0) == 0xBFBA_FECA
        let count = Int(head.word(at: 4)?.byteSwapped ?? 0)
        // A Java class begins with the same number; its version is larger.
        guard (1...16).contains(count) else { return [] }
        let width = isLong ? 32 : 20
        let table = ObjectBytes(try read(8, count * width))
        return try (0..<count).compactMap { index in
            let entry = index * width + 8
            let offset =
                isLong
                ? table.long(at: entry).map(\.byteSwapped) : table.word(at: entry).map { UInt64($0.byteSwapped) }
            guard let offset, let start = Int(exactly: offset), start > 0, start < size else { return nil }
            return try machO(at: start, size, read)
        }
    }

    private static func machO(at start: Int, _ size: Int, _ read: Read) rethrows -> Slice? {
        let header = ObjectBytes(try read(start, 32))
        guard let magic = header.word(at: 0), [0xFEED_FACF, 0xFEED_FACE].contains(magic),
            let cpu = header.word(at: 4), let count = header.word(at: 16), let length = header.word(at: 20),
            count <= 4_096, length <= 1 << 20
        else { return nil }
        let isLong = magic == 0xFEED_FACF
        let commands = ObjectBytes(try read(start + (isLong ? 32 : 28), Int(length)))
        var (identifier, base) = (nil as String?, 0 as UInt64)
        var offset = 0
        for _ in 0..<count {
            guard let command = commands.word(at: offset), let width = commands.word(at: offset + 4), width >= 8 else {
                break
            }
            switch command {
            case 0x1B: identifier = commands.hex(at: offset + 8, count: 16)
            case 0x19 where commands.text(at: offset + 8, count: 16) == "__TEXT":
                base = commands.long(at: offset + 24) ?? 0
            case 0x01 where commands.text(at: offset + 8, count: 16) == "__TEXT":
                base = commands.word(at: offset + 24).map(UInt64.init) ?? 0
            default: break
            }
            offset += Int(width)
        }
        return identifier.map { Slice(identifier: $0, architecture: processor(cpu), base: base, isMachO: true) }
    }

    private static func processor(_ number: UInt32) -> String? {
        [0x0100_000C: "arm64", 0x0100_0007: "x86_64", 12: "armv7", 7: "i386", 0x0200_000C: "arm64_32"][number]
    }

    private static func elf(_ head: ObjectBytes, _ size: Int, _ read: Read) rethrows -> [Slice] {
        let isLong = head.bytes.count > 5 && head.bytes[4] == 2
        guard head.bytes.count == 64, head.bytes[5] == 1, let machine = head.half(at: 18),
            let table = isLong ? head.long(at: 32) : head.word(at: 28).map(UInt64.init),
            let width = head.half(at: isLong ? 54 : 42), let count = head.half(at: isLong ? 56 : 44),
            width >= (isLong ? 56 : 32), width <= 256, count <= 512, let start = Int(exactly: table), start < size
        else { return [] }
        let segments = ObjectBytes(try read(start, Int(count) * Int(width)))
        var (identifier, base) = (nil as String?, nil as UInt64?)
        for index in 0..<Int(count) {
            let entry = index * Int(width)
            func field(_ long: Int, _ short: Int) -> UInt64? {
                isLong ? segments.long(at: entry + long) : segments.word(at: entry + short).map(UInt64.init)
            }
            guard let kind = segments.word(at: entry), let offset = field(8, 4), let address = field(16, 8),
                let length = field(32, 16)
            else { break }
            if kind == 1, base == nil { base = address &- offset }
            if kind == 4, identifier == nil, let at = Int(exactly: offset), at < size, length <= 1 << 16 {
                identifier = buildID(ObjectBytes(try read(at, Int(length))))
            }
        }
        if identifier == nil { identifier = try buildIDOfSections(head, isLong, size, read) }
        let name = [0x3E: "x86_64", 0xB7: "arm64", 0x28: "armv7", 0x03: "i386"][machine]
        return identifier.map { [Slice(identifier: $0, architecture: name, base: base ?? 0, isMachO: false)] } ?? []
    }

    /// A file that has only debug information keeps its notes in sections.
    private static func buildIDOfSections(
        _ head: ObjectBytes, _ isLong: Bool, _ size: Int, _ read: Read
    ) rethrows -> String? {
        guard let table = isLong ? head.long(at: 40) : head.word(at: 32).map(UInt64.init),
            let width = head.half(at: isLong ? 58 : 46), let count = head.half(at: isLong ? 60 : 48),
            width >= (isLong ? 64 : 40), width <= 256, count <= 1_024, let start = Int(exactly: table), start > 0,
            start < size
        else { return nil }
        let sections = ObjectBytes(try read(start, Int(count) * Int(width)))
        for index in 0..<Int(count) {
            let entry = index * Int(width)
            guard let kind = sections.word(at: entry + 4), kind == 7,
                let offset = isLong ? sections.long(at: entry + 24) : sections.word(at: entry + 16).map(UInt64.init),
                let length = isLong ? sections.long(at: entry + 32) : sections.word(at: entry + 20).map(UInt64.init),
                let at = Int(exactly: offset), at < size, length <= 1 << 16
            else { continue }
            if let identifier = buildID(ObjectBytes(try read(at, Int(length)))) { return identifier }
        }
        return nil
    }

    /// The note of GNU with the type 3.
    private static func buildID(_ notes: ObjectBytes) -> String? {
        var offset = 0
        while let name = notes.word(at: offset), let length = notes.word(at: offset + 4),
            let kind = notes.word(at: offset + 8),
            name <= 256, length <= 1 << 16
        {
            let content = offset + 12 + (Int(name) + 3) / 4 * 4
            if kind == 3, notes.text(at: offset + 12, count: Int(name)) == "GNU", (4...64).contains(length) {
                return notes.hex(at: content, count: Int(length))
            }
            offset = content + (Int(length) + 3) / 4 * 4
        }
        return nil
    }
}

/// Numbers in bytes of any length, little-endian; nil where there are no bytes.
private struct ObjectBytes {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func number(at offset: Int, count: Int) -> UInt64? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func half(at offset: Int) -> UInt16? { number(at: offset, count: 2).map { UInt16(truncatingIfNeeded: $0) } }
    func word(at offset: Int) -> UInt32? { number(at: offset, count: 4).map { UInt32(truncatingIfNeeded: $0) } }
    func long(at offset: Int) -> UInt64? { number(at: offset, count: 8) }

    func hex(at offset: Int, count: Int) -> String? {
        guard offset >= 0, count >= 0, offset <= bytes.count - count else { return nil }
        return bytes[offset..<(offset + count)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A name that zeros end.
    func text(at offset: Int, count: Int) -> String? {
        guard offset >= 0, count >= 0, offset <= bytes.count - count else { return nil }
        return String(decoding: bytes[offset..<(offset + count)].prefix { $0 != 0 }, as: UTF8.self)
    }
}
