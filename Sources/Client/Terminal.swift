import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes results to standard output, and everything for people to standard error.
package enum Terminal {
    /// Writes a line to standard error.
    package static func say(_ line: String) { write(line + "\n", to: 2) }

    /// Writes text to standard output, unchanged.
    package static func put(_ text: String) { write(text, to: 1) }

    /// Writes a line to standard output.
    package static func print(_ line: String) { put(line + "\n") }

    /// Whether standard output is a terminal.
    package static var outputIsTerminal: Bool { isatty(1) == 1 }
    /// Whether standard error is a terminal.
    package static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// Whether standard output should have colours: it is a terminal, and NO_COLOR (no-color.org) is not set.
    package static var hasColour: Bool { outputIsTerminal && wantsColour }
    /// Whether text on standard error may have colours.
    package static var errorHasColour: Bool { errorIsTerminal && wantsColour }

    private static var wantsColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Columns of the terminal; 100 when there is none.
    package static var width: Int { size.columns }

    /// The terminal's size in characters; 100 by 24 if there is none.
    package static var size: (columns: Int, rows: Int) {
        var size = winsize()
        for descriptor: Int32 in [2, 1] where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
            return (Int(size.ws_col), max(Int(size.ws_row), 5))
        }
        return (100, 24)
    }

    /// Writes all bytes. If the reader is gone, the command ends, as `cat` would.
    package static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                exit(errno == EPIPE ? 141 : 3)
            }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #else
            Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }
}
