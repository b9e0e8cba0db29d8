internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file `packed-refs` as Git writes it: sorted, with every tag object peeled.
///
/// libgit2 makes an object of each line, which takes ten times as long as reading them. A file in any other form is
/// left to libgit2: see ``init(_:under:)``.
struct PackedRefs {
    /// The object of each line: the ref's own id, or the id of the object that its tag points to.
    let table: RefTable

    /// A missing file has no refs.
    ///
    /// - Parameter prefix: Only refs whose names begin like this are kept.
    /// - Returns: Nil if libgit2 must read the file: it is unsorted, not fully peeled, or has a line of another form.
    init?(_ path: String, under prefix: String = "refs/") {
        guard FileManager.default.fileExists(atPath: path) else {
            table = RefTable()
            return
        }
        // Git replaces the whole file, so the mapped bytes do not change.
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe),
            let table = data.withUnsafeBytes({ PackedRefs.read($0, Array(prefix.utf8)) })
        else { return nil }
        self.table = table
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ prefix: [UInt8]) -> RefTable? {
        guard let start = bytes.baseAddress else { return RefTable() }
        var table = RefTable()
        if prefix.elementsEqual("refs/".utf8) { table.reserve(bytes.count / 64, bytes: bytes.count / 2) }
        var position = 0
        /// The ref of the last line. A line with its peeled id may follow.
        var waiting: (name: UnsafeRawBufferPointer, id: OID)?
        /// Whether the previous line is a ref's, kept or not.
        var mayPeel = false
        var last = UnsafeRawBufferPointer(start: nil, count: 0)
        while position < bytes.count {
            guard let end = memchr(start + position, 0x0A, bytes.count - position) else { return nil }
            let line = UnsafeRawBufferPointer(
                start: start + position, count: end - UnsafeMutableRawPointer(mutating: start + position))
            defer { position += line.count + 1 }
            if position == 0 {
                let header = String(decoding: line, as: UTF8.self)
                guard header.hasPrefix("# pack-refs with:"), header.contains(" fully-peeled "),
                    header.contains(" sorted ")
                else { return nil }
            } else if line.first == UInt8(ascii: "^") {
                guard line.count == 41, mayPeel, let id = OID(hex: UnsafeRawBufferPointer(rebasing: line[1...]))
                else { return nil }
                if let known = waiting { table.append(name: known.name, id) }
                (waiting, mayPeel) = (nil, false)
            } else {
                if let known = waiting { table.append(name: known.name, known.id) }
                (waiting, mayPeel) = (nil, true)
                guard line.count > 41, line[40] == UInt8(ascii: " "), line.last != 0x0D,
                    let id = OID(hex: UnsafeRawBufferPointer(rebasing: line[..<40]))
                else { return nil }
                let name = UnsafeRawBufferPointer(rebasing: line[41...])
                guard last.order(to: name) < 0 else { return nil }
                last = name
                if name.starts(with: prefix), name.isUTF8 { waiting = (name, id) }
            }
        }
        if let known = waiting { table.append(name: known.name, known.id) }
        return table
    }
}

extension UnsafeRawBufferPointer {
    var isUTF8: Bool { allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil }
}
