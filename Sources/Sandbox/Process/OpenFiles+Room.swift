import Results

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension OpenFiles {
    /// Maximum number of descriptors that starting a tool takes: pipes with both ends, the process, the library's own.
    static let perTool = 16

    /// Waits until a tool can be started without running out of descriptors.
    ///
    /// swift-subprocess 1.0.2 ends the whole process if it can't open a descriptor (its issue 223), so this is checked
    /// first. ``reserve`` covers descriptors that are opened between the check and the start.
    /// - Throws: ``NoRoom`` if there are too few for as long as `patience`.
    static func waitForRoom(_ count: Int = perTool, patience: Duration = .seconds(60)) async throws {
        let deadline = ContinuousClock.now + patience
        while !hasRoom(count) {
            guard ContinuousClock.now < deadline else { throw NoRoom(wanted: count, patience: patience) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private static func hasRoom(_ count: Int) -> Bool {
        var held: [Int32] = []
        defer { for file in held { closeFile(file) } }
        for _ in 0..<count {
            let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            held.append(file)
        }
        return true
    }

    /// There were too few descriptors for too long.
    struct NoRoom: Error, CustomStringConvertible {
        var wanted: Int
        var patience: Duration

        var description: String {
            "too many open files: \(wanted) descriptors were not free within \(patience.inWords); raise the limit with "
                + "`ulimit -n` or LimitNOFILE=, or run fewer steps at a time"
        }
    }
}
