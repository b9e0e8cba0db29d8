package import Reports

/// A QR code of a short text: bytes, with error correction of level M.
///
/// Source: ISO/IEC 18004, versions 1 to 20.
package struct QRCode: Sendable, Equatable {
    /// The modules on each side.
    package let size: Int
    /// By row; true is dark.
    package private(set) var modules: [[Bool]]
    /// Which modules have a fixed meaning and are not masked.
    private var isFixed: [[Bool]]
    private let version: Int

    /// By version: the bytes of correction in each block, and the number of blocks.
    private static let corrections = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]
    private static let blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]

    /// - Returns: Nil for a text of more than some 660 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = (1...Self.blocks.count).first(where: { Self.room($0) >= bytes.count }) else { return nil }
        self.version = version
        size = version * 4 + 17
        modules = Array(repeating: Array(repeating: false, count: size), count: size)
        isFixed = modules
        drawPatterns()
        drawFormat(0)
        draw(Self.corrected(Self.codewords(bytes, version), version))
        let codes = (0..<8).map { masked($0) }
        let penalties = codes.map(\.penalty)
        modules = (codes.indices.min { penalties[$0] < penalties[$1] }).map { codes[$0].modules } ?? modules
    }

    // MARK: Bytes

    /// All bytes of a version, with those of correction.
    private static func capacity(_ version: Int) -> Int {
        var bits = (16 * version + 128) * version + 64
        if version >= 2 {
            let count = version / 7 + 2
            bits -= (25 * count - 10) * count - 55
        }
        return (version >= 7 ? bits - 36 : bits) / 8
    }

    private static func data(_ version: Int) -> Int {
        capacity(version) - corrections[version - 1] * blocks[version - 1]
    }

    /// The bytes of text that fit: those for data, without the mode and the length.
    private static func room(_ version: Int) -> Int { data(version) - (version < 10 ? 2 : 3) }

    private static func codewords(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func add(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        add(0b0100, 4)
        add(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { add(Int(byte), 8) }
        add(0, 4)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var isEven = true
        while words.count < data(version) {
            words.append(isEven ? 0xEC : 0x11)
            isEven.toggle()
        }
        return words
    }

    /// The bytes in blocks, each with its correction, interleaved.
    private static func corrected(_ words: [UInt8], _ version: Int) -> [UInt8] {
        let (count, correction) = (blocks[version - 1], corrections[version - 1])
        let short = words.count / count
        let longer = words.count % count
        let divisor = divisor(correction)
        var data: [[UInt8]] = []
        var rests: [[UInt8]] = []
        var start = 0
        for index in 0..<count {
            let end = start + short + (index >= count - longer ? 1 : 0)
            data.append(Array(words[start..<end]))
            rests.append(rest(data[index], divisor))
            start = end
        }
        var all: [UInt8] = []
        for place in 0...short { for block in data where place < block.count { all.append(block[place]) } }
        for place in 0..<correction { for rest in rests { all.append(rest[place]) } }
        return all
    }

    /// Multiplies in the field of 256 elements that QR codes use.
    private static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
        var product = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x11D
            if other >> bit & 1 == 1 { product ^= Int(one) }
        }
        return UInt8(product)
    }

    private static func divisor(_ degree: Int) -> [UInt8] {
        var result = Array(repeating: UInt8(0), count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root) ^ (index + 1 < degree ? result[index + 1] : 0)
            }
            root = product(root, 2)
        }
        return result
    }

    private static func rest(_ data: [UInt8], _ divisor: [UInt8]) -> [UInt8] {
        var rest = Array(repeating: UInt8(0), count: divisor.count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= product(divisor[index], factor) }
        }
        return rest
    }

    // MARK: Modules

    private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        (modules[row][column], isFixed[row][column]) = (isDark, true)
    }

    private mutating func drawPatterns() {
        for index in 0..<size {
            fix(6, index, index % 2 == 0)
            fix(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
            for down in -4...4 {
                for right in -4...4 {
                    let distance = max(abs(down), abs(right))
                    fix(row + down, column + right, distance != 2 && distance != 4)
                }
            }
        }
        let places = alignments
        for row in places {
            for column in places {
                let ends = [places.first, places.last]
                let isCorner = ends.contains(row) && ends.contains(column)
                if isCorner, !(row == places.last && column == places.last) { continue }
                for down in -2...2 {
                    for right in -2...2 { fix(row + down, column + right, max(abs(down), abs(right)) != 1) }
                }
            }
        }
        guard version >= 7 else { return }
        let bits = version << 12 | Self.remainder(version << 12, 0x1F25, 12)
        for bit in 0..<18 {
            let isDark = bits >> bit & 1 == 1
            fix(size - 11 + bit % 3, bit / 3, isDark)
            fix(bit / 3, size - 11 + bit % 3, isDark)
        }
    }

    private var alignments: [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    private static func remainder(_ value: Int, _ divisor: Int, _ degree: Int) -> Int {
        var rest = value
        for bit in stride(from: 31, through: degree, by: -1) where rest >> bit & 1 == 1 {
            rest ^= divisor << (bit - degree)
        }
        return rest
    }

    /// Level M has the bits 00, before the three of the mask.
    private mutating func drawFormat(_ mask: Int) {
        let bits = (mask << 10 | Self.remainder(mask << 10, 0x537, 10)) ^ 0x5412
        for bit in 0..<15 {
            let isDark = bits >> bit & 1 == 1
            let place = bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit
            fix(place, 8, isDark)
            let other = bit < 8 ? size - 1 - bit : bit == 8 ? 7 : 14 - bit
            fix(8, other, isDark)
        }
        fix(size - 8, 8, true)
    }

    private mutating func draw(_ bytes: [UInt8]) {
        var bit = 0
        var right = size - 1
        var isUp = true
        while right > 0 {
            if right == 6 { right -= 1 }
            for step in 0..<size {
                let row = isUp ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row][column] && bit < bytes.count * 8 {
                    modules[row][column] = bytes[bit / 8] >> (7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
            isUp.toggle()
            right -= 2
        }
    }

    private func masked(_ mask: Int) -> QRCode {
        var code = self
        for row in 0..<size {
            for column in 0..<size where !isFixed[row][column] && Self.isMasked(mask, row, column) {
                code.modules[row][column].toggle()
            }
        }
        code.drawFormat(mask)
        return code
    }

    private static func isMasked(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    // MARK: Choice of the mask

    private var penalty: Int {
        let columns = (0..<size).map { column in modules.map { $0[column] } }
        var sum = (modules + columns).reduce(0) { $0 + Self.penalty(of: $1) }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let first = modules[row][column]
                if modules[row][column + 1] == first, modules[row + 1][column] == first,
                    modules[row + 1][column + 1] == first
                {
                    sum += 3
                }
            }
        }
        let dark = modules.joined().count { $0 }
        return sum + abs(dark * 20 - size * size * 10) / (size * size) * 10
    }

    /// Of one line: long runs of a colour, and what looks like a finder.
    private static func penalty(of line: [Bool]) -> Int {
        var sum = 0
        var run = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            sum += run == 5 ? 3 : run > 5 ? 1 : 0
        }
        let finder = [true, false, true, true, true, false, true]
        let light = Array(repeating: false, count: 4)
        for start in 0..<line.count - 10 {
            let part = Array(line[start..<start + 11])
            if part == finder + light || part == light + finder { sum += 40 }
        }
        return sum
    }

    // MARK: Form

    /// As SVG, with the margin that readers need.
    package var svg: HTML {
        let side = size + 8
        var path = ""
        for row in 0..<size {
            for column in 0..<size where modules[row][column] { path += "M\(column + 4) \(row + 4)h1v1h-1z" }
        }
        return HTML(
            trusted:
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(side) \(side)\" width=\"160\" height=\"160\" "
                + "role=\"img\" aria-label=\"QR code of the link\"><path fill=\"#fff\" d=\"M0 0h\(side)v\(side)H0z\"/>"
                + "<path d=\"\(path)\"/></svg>")
    }
}
