/// Text for the POSIX shell of another machine.
enum ShellText {
    /// `text` as one word, whatever it contains.
    static func word(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

    /// A command line that runs `script`, whichever shell reads the line: users of a machine may log in with another one
    /// than POSIX's.
    static func line(_ script: String) -> String { "exec /bin/sh -c " + word(script) }

    /// `name` without anything but letters, digits, dots, dashes and underscores.
    static func plainName(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "_" })
    }
}
