import ForeignText

extension String {
    /// One line without anything that a terminal or a reader takes for something else: no control characters, and none
    /// that change the direction of text or have no width.
    func cleanLine(_ limit: Int = CrashLimits.name) -> String? {
        let line = clean(limit, keepsLines: false)
        return line.isEmpty ? nil : line
    }

    /// Like ``cleanLine(_:)``, but several lines stay several lines.
    func cleanText(_ limit: Int = CrashLimits.message) -> String? {
        let text = clean(limit, keepsLines: true)
        return text.isEmpty ? nil : text
    }

    private func clean(_ limit: Int, keepsLines: Bool) -> String {
        // What is dropped makes a text shorter, so a part of it is enough.
        var result = String.UnicodeScalarView()
        for scalar in prefix(bytes: limit * 4).unicodeScalars {
            switch scalar.value {
            case 0x0A where keepsLines: result.append(scalar)
            case 0x09, 0x0A, 0x0D: result.append(" ")
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xE0000...0xE0FFF:
                continue
            default: result.append(scalar)
            }
        }
        return String(String(result).trimmed.prefix(bytes: limit))
    }

    /// The last component of a path of any system.
    var fileName: String {
        let bytes = utf8
        guard let slash = bytes.lastIndex(where: { $0 == 0x2F || $0 == 0x5C }) else { return self }
        return String(self[bytes.index(after: slash)...])
    }

    /// The number and hexadecimal digits of an identifier of an image, in lower case.
    var imageIdentifier: String? {
        let digits = utf8.prefix(100).filter { $0 != 0x2D && $0 != 0x3C && $0 != 0x3E }
        guard digits.count >= 8, digits.allSatisfy(\.isHexadecimalDigit) else { return nil }
        return String(decoding: digits, as: UTF8.self).lowercased()
    }
}

/// The lines of a report, each without its end, colours and more than ``CrashLimits/line`` bytes.
struct ReportLines {
    private(set) var lines: [String] = []

    init(_ bytes: [UInt8]) {
        var isRead = false
        var source = ByteSource {
            defer { isRead = true }
            return isRead ? [] : bytes
        }
        while let line = source.nextLine(limit: CrashLimits.line) {
            lines.append(String(uncoloured: Self.shown(line.bytes)))
        }
    }

    /// What a terminal shows of a line that a carriage return begins anew.
    private static func shown(_ line: [UInt8]) -> [UInt8] {
        guard let start = line.lastIndex(of: .carriageReturn) else { return line }
        return Array(line[(start + 1)...])
    }

    /// Takes away what a log put before each line: the characters before `marker` where it is first.
    ///
    /// - Parameter width: The characters before `marker` that belong to the report.
    mutating func removePrefix(before marker: String, keeping width: (Substring) -> Int = { _ in 0 }) {
        for line in lines {
            guard let range = line.byteRange(of: marker) else { continue }
            let before = line[..<range.lowerBound]
            let count = before.unicodeScalars.count - width(before)
            guard (1...100).contains(count) else { return }
            lines = lines.map { line in
                String(String.UnicodeScalarView(line.unicodeScalars.dropFirst(count)))
            }
            return
        }
    }
}
