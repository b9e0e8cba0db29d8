import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads an attempt's output until its report arrives.
struct OutputReader {
    /// Bytes of one read, and of the pipe of a step that prints much.
    private static let size = 1 << 18

    private var pipe: Int32
    private let output: (UnsafeRawBufferPointer) -> Void
    private var buffer: UnsafeMutableRawBufferPointer?
    private var isPipeLarge = false

    init(pipe: Int32, output: @escaping (UnsafeRawBufferPointer) -> Void) {
        self.pipe = pipe
        self.output = output
    }

    func free() { buffer?.deallocate() }

    /// Passes output on until a report can be read (true) or the time is over (false).
    mutating func waitForReport(on control: Int32, atMost wait: Duration) throws -> Bool {
        var files = [
            pollfd(fd: control, events: Int16(POLLIN), revents: 0),
            // poll(2) ignores a negative descriptor: the output may end long before the command does.
            pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(clamping: Int((wait / .milliseconds(1)).rounded(.up)))
        let ready = poll(&files, 2, max(milliseconds, 0))
        if ready < 0 && errno != EINTR { throw Errno(rawValue: errno) }
        guard ready > 0 else { return false }
        if files[1].revents != 0 { read(atMost: 16) }
        return files[0].revents != 0
    }

    /// Whether the supervisor has reported the end of the command.
    func hasReport(on control: Int32) -> Bool {
        var file = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) > 0 && file.revents != 0
    }

    /// Reads what is left in the pipe. The number of reads is limited, so a process outside the step's tree that writes
    /// into the pipe does not delay us.
    mutating func drain() { read(atMost: 64) }

    private mutating func read(atMost rounds: Int) {
        for _ in 0..<rounds where pipe >= 0 {
            let buffer = buffer ?? .allocate(byteCount: OutputReader.size, alignment: 16)
            self.buffer = buffer
            let count = readSome(pipe, buffer)
            if count < 0 && errno == EINTR { continue }
            if count == 0 { pipe = -1 }
            guard count > 0 else { return }
            output(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            guard count < 1 << 16 else {
                enlargePipe()
                continue
            }
        }
    }

    /// A larger pipe saves switches between the processes; most steps never print enough to need it.
    private mutating func enlargePipe() {
        #if os(Linux)
            guard !isPipeLarge else { return }
            isPipeLarge = true
            _ = fcntl(pipe, 1031, Int32(OutputReader.size))  // F_SETPIPE_SZ; refused beyond the user's limit
        #endif
    }
}

private func readSome(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(file, buffer.baseAddress, buffer.count)
}
