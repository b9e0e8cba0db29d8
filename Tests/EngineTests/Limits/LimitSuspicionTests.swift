import Sandbox
import Testing

/// What a failure's reason says if nothing counts how often a limit was reached.
struct LimitSuspicionTests {
    private let limits: ProcessLimits = {
        var limits = ProcessLimits()
        (limits.data, limits.processes, limits.openFiles, limits.fileSize) = (200 << 20, 1_500, 64, 5 << 20)
        return limits
    }()

    @Test(arguments: [
        ("Traceback (most recent call last):\n  File \"x.py\"\nMemoryError\n", "memory, 200.0 MiB"),
        ("terminate called after throwing an instance of 'std::bad_alloc'\n", "memory, 200.0 MiB"),
        ("tail: memory exhausted\n", "memory, 200.0 MiB"), ("mmap: Cannot allocate memory", "memory, 200.0 MiB"),
        ("/bin/sh: 1: Cannot fork\n", "processes, 1,500"),
        ("RuntimeError: can't start new thread\n", "processes, 1,500"),
        ("OSError: [Errno 24] Too many open files: 'x'\n", "open files, 64"),
        ("head: write error: File too large\n", "file size, 5.0 MiB"),
    ])
    func theLimitAndItsValueAreNamed(end: String, limit: String) throws {
        let found = try #require(LimitSuspicion(in: end, of: limits))
        #expect(found.limit.hasPrefix(limit), "\(found.limit)")
        #expect(end.contains(found.words) || end.lowercased().contains(found.words.lowercased()))
    }

    @Test(arguments: ["", "error: expected ';'\n", "1 test failed\n"])
    func `a plain failure is not attributed to a limit`(end: String) {
        #expect(LimitSuspicion(in: end, of: limits) == nil)
    }

    /// With control groups for memory and processes, none of these is set.
    @Test func `a limit that was not set is not suspected`() {
        #expect(LimitSuspicion(in: "MemoryError\n", of: ProcessLimits()) == nil)
        #expect(LimitSuspicion(in: "sh: Cannot fork\n", of: ProcessLimits()) == nil)
    }
}
