import TestIntegrity

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads Swift files from standard input and writes what they declare and assert, by `SwiftReaderProtocol`.
///
/// The files are untrusted. pipectl starts this program in a sandbox, and the program limits itself before it reads
/// anything.
@main struct SwiftReader {
    static func main() {
        ProcessLimits.set()
        let isDone = DeepStack.run(bytes: DeepStack.bytes) { answer() }
        if !isDone { exit(70) }
    }

    private static func answer() {
        guard let sources = SwiftReaderProtocol.sources(of: readAll()) else { exit(64) }
        for source in sources {
            // Write each answer at once: after a crash, the earlier answers are still used.
            guard writeAll(SwiftReaderProtocol.line(FileReading.facts(of: source))) else { exit(74) }
        }
    }

    private static func readAll() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(0, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                return bytes
            }
        }
    }

    private static func writeAll(_ bytes: [UInt8]) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if count > 0 { left = left.dropFirst(count) } else if errno != EINTR { return false }
        }
        return true
    }
}
