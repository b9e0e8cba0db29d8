import SystemPackage

/// Reads a file in pieces.
enum FileSending {
    /// - Returns: The number of bytes.
    /// - Throws: `Errno`, and what `pass` throws.
    static func send(_ path: String, _ pass: (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
        let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .noFollow])
        return try file.closeAfter {
            var bytes = 0
            var piece = [UInt8](repeating: 0, count: 1 << 18)
            while true {
                let count = try piece.withUnsafeMutableBytes { try file.read(into: $0) }
                if count == 0 { return bytes }
                bytes += count
                try piece.withUnsafeBytes { try pass(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
        }
    }
}
