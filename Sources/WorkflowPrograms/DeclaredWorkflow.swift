/// A workflow that a file of `workflows/` declares, as it is written there.
public struct DeclaredWorkflow: Sendable, Equatable {
    /// The workflow's name.
    public var name: String
    /// From the top of the repository: `workflows/test.swift`.
    public var file: String
    /// Counted from 1.
    public var line: Int

    /// - Parameters:
    ///   - name: The workflow's name.
    ///   - file: From the top of the repository.
    ///   - line: Counted from 1.
    public init(name: String, file: String, line: Int) {
        (self.name, self.file, self.line) = (name, file, line)
    }
}

extension WorkflowSources {
    /// The workflows that are declared with a literal name but are in no list of a `WorkflowSet`, so they never run.
    ///
    /// - Parameter names: The names of the workflows that the compiled program has.
    public func unlisted(among names: [String]) -> [DeclaredWorkflow] {
        let sources = isPackage ? files.filter { $0.path.hasSuffix(".swift") } : direct
        return sources.filter { !$0.path.contains("/Tests/") }.flatMap { file in
            WorkflowScan(file.bytes).found.map { DeclaredWorkflow(name: $0.name, file: file.path, line: $0.line) }
        }.filter { !names.contains($0.name) }
    }
}

/// Finds `Workflow("name"` in the text of a Swift file, outside of comments and strings.
///
/// The compiler has accepted the file already. Names with an escape or an interpolation are skipped.
private struct WorkflowScan {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var found: [(name: String, line: Int)] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        while position < bytes.count { take() }
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        bytes.indices.contains(position + offset) ? bytes[position + offset] : nil
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    /// Consumes one token, or one byte that does not matter.
    private mutating func take() {
        if starts("//") {
            while let byte = byte(), byte != UInt8(ascii: "\n") { position += 1 }
        } else if starts("/*") {
            skipComment()
        } else if let hashes = openingHashes() {
            skipString(hashes)
        } else if let first = byte(), isName(first) {
            let start = position
            while let byte = byte(), isName(byte) { position += 1 }
            if bytes[start..<position].elementsEqual("Workflow".utf8) { takeName(from: start) }
        } else {
            position += 1
        }
    }

    /// Comments are nested in Swift.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                (depth, position) = (depth + 1, position + 2)
            } else if starts("*/") {
                (depth, position) = (depth - 1, position + 2)
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    /// Returns the number of `#` before the quotation mark of a string that starts here; nil if none starts.
    private func openingHashes() -> Int? {
        var count = 0
        while byte(count) == UInt8(ascii: "#") { count += 1 }
        return byte(count) == UInt8(ascii: "\"") ? count : nil
    }

    private mutating func skipString(_ hashes: Int) {
        let marks = Array(repeating: UInt8(ascii: "#"), count: hashes)
        position += hashes
        let quote = [UInt8](repeating: UInt8(ascii: "\""), count: starts("\"\"\"") ? 3 : 1)
        position += quote.count
        while position < bytes.count {
            let rest = bytes[position...]
            if rest.starts(with: quote + marks) { return position += quote.count + hashes }
            guard rest.starts(with: [UInt8(ascii: "\\")] + marks) else {
                position += 1
                continue
            }
            position += 1 + hashes
            if byte() == UInt8(ascii: "(") { skipInterpolation() } else { position += 1 }
        }
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if byte() == UInt8(ascii: "(") { depth += 1 } else if byte() == UInt8(ascii: ")") { depth -= 1 }
            take()
        } while depth > 0 && position < bytes.count
    }

    private func isName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 0x80
            || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private mutating func takeName(from start: Int) {
        let before = position
        skipSpace()
        guard byte() == UInt8(ascii: "(") else { return position = before }
        position += 1
        skipSpace()
        guard byte() == UInt8(ascii: "\""), !starts("\"\"\"") else { return }
        let first = position + 1
        guard let end = bytes[first...].firstIndex(of: UInt8(ascii: "\"")) else { return }
        let name = bytes[first..<end]
        if !name.contains(UInt8(ascii: "\\")), !name.contains(UInt8(ascii: "\n")) {
            let line = 1 + bytes[..<start].count { $0 == UInt8(ascii: "\n") }
            found.append((String(decoding: name, as: UTF8.self), line))
        }
    }

    private mutating func skipSpace() {
        while let byte = byte(),
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
        {
            position += 1
        }
    }
}
