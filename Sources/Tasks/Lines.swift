extension String {
    /// The parts between line feeds. A carriage return stays at the end of its line; with the line feed it is one
    /// character to Swift, so that splitting by characters would miss it.
    var feedLines: [String] {
        unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }
}
