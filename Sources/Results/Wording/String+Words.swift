extension String {
    package func leftPadded(to width: Int) -> String { String(repeating: "0", count: max(width - count, 0)) + self }

    /// The text as one word that any shell takes as it is: in double quotes where they change nothing.
    ///
    /// By scalars, as a shell reads it: a quote with an accent on it is one character to Swift and still a quote.
    package var shellWord: String {
        let plain = unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_./:=,+@%".unicodeScalars.contains(scalar))
        }
        if plain && !isEmpty { return self }
        let special = "\"$`\\!".unicodeScalars
        if !unicodeScalars.contains(where: special.contains) { return "\"\(self)\"" }
        let parts = unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map { String($0) }
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}
