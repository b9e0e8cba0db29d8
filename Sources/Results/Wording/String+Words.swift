extension String {
    /// The text with zeros before it, so that it has at least `width` characters.
    package func leftPadded(to width: Int) -> String { String(repeating: "0", count: max(width - count, 0)) + self }

    /// The text as one shell word: in double quotes if the shell would change nothing in them.
    ///
    /// It examines Unicode scalars, as a shell does: to Swift, a quote with a combining accent is one character, but to
    /// a shell it is a quote.
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
