import Client
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a value that a person types without an echo, or that another program writes.
enum HiddenInput {
    /// Reads standard input to its end, at most `limit` bytes; from a terminal one line, without its line feed.
    static func read(prompt: String, limit: Int) throws -> [UInt8] {
        isatty(0) == 1 ? try typed(prompt, limit) : try piped(limit)
    }

    private static func piped(_ limit: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while all.count < limit {
            let count = try readInput(&piece, min(piece.count, limit - all.count))
            if count == 0 { break }
            all += piece[..<count]
        }
        return all
    }

    private static func typed(_ prompt: String, _ limit: Int) throws -> [UInt8] {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { throw shown }
        var silent = before
        // Read single bytes: a terminal limits a line to 4,095 bytes, and Ctrl-C must not leave the terminal without an
        // echo.
        silent.c_lflag &= ~(tcflag_t(ECHO) | tcflag_t(ICANON) | tcflag_t(ISIG))
        guard tcsetattr(0, TCSAFLUSH, &silent) == 0 else { throw shown }
        defer {
            // Discards the rest of a pasted text of several lines, which a shell would show and run.
            tcsetattr(0, TCSAFLUSH, &before)
            Terminal.say("")
        }
        // Write the prompt last: once it is visible, the person may type.
        Terminal.write(prompt, to: 2)
        var line: [UInt8] = []
        var piece: [UInt8] = [0]
        while line.count < limit {
            guard try readInput(&piece, 1) == 1 else { break }
            switch piece[0] {
            case 3, 28: throw CommandEnd(code: 130, message: "nothing was changed")  // Ctrl-C, Ctrl-\
            case 4, 10, 13: return line  // Ctrl-D, Enter
            case 8, 127: if !line.isEmpty { line.removeLast() }
            case 21: line.removeAll()  // Ctrl-U
            default: line.append(piece[0])
            }
        }
        return line
    }

    private static var shown: CommandEnd {
        CommandEnd(code: 3, message: "the terminal's echo can't be switched off; use a pipe")
    }
}

/// read(2) of standard input. Inside a type with a method `read`, the name would mean that method.
private func readInput(_ buffer: inout [UInt8], _ count: Int) throws -> Int {
    while true {
        let size = read(0, &buffer, count)
        if size >= 0 { return size }
        guard errno == EINTR else {
            throw CommandEnd(code: 3, message: "standard input can't be read: \(String(cString: strerror(errno)))")
        }
    }
}
