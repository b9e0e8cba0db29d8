/// The lines of a source file.
enum SourceLines {
    /// With line feeds, with or without a carriage return, which is left out.
    ///
    /// By bytes: the two together are one character, which is no line feed, so a file from Windows would be one line.
    static func split(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }
}
