/// The lines of a source file.
enum SourceLines {
    /// Splits at line feeds and drops a carriage return before one.
    ///
    /// It works on bytes: in Swift the two together are one character that is no line feed, so a file from Windows
    /// would be a single line.
    static func split(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }
}
