/// How much a step, or a whole run, may use. Nil means the limit that the build box sets.
///
/// A step that reaches a limit is ended, and its reason has the limit's name and value.
public struct Limits: Sendable, Equatable, Codable {
    /// Seconds of processor time: of all processes together where the machine has control groups, otherwise of each
    /// process.
    public var cpuTime: Double?
    /// Bytes of memory: of all processes together where the machine has control groups, otherwise of each process.
    public var memory: Int?
    /// Processes and threads at the same time.
    public var processes: Int?
    /// Bytes of the largest file that a process may write.
    public var fileSize: Int?
    /// Files that each process may have open at the same time.
    public var openFiles: Int?
    /// Bytes of output. How much of it the log keeps is a setting of the daemon.
    public var output: Int?
    /// Bytes on disk of the workspace, the home folder and the temporary folder together.
    public var workspace: Int?
    /// Wall-clock seconds. For a step, this is its time-out.
    public var wallTime: Double?

    /// No limits: those of the build box apply.
    public init() {}

    /// Collects `limits`; the last one of a kind counts.
    public init(_ limits: [Limit]) {
        for limit in limits { limit.apply(&self) }
    }

    /// These limits, completed by `others` where one is nil.
    public func or(_ others: Limits) -> Limits {
        var limits = self
        limits.cpuTime = cpuTime ?? others.cpuTime
        limits.memory = memory ?? others.memory
        limits.processes = processes ?? others.processes
        limits.fileSize = fileSize ?? others.fileSize
        limits.openFiles = openFiles ?? others.openFiles
        limits.output = output ?? others.output
        limits.workspace = workspace ?? others.workspace
        limits.wallTime = wallTime ?? others.wallTime
        return limits
    }

    /// The smaller value of each limit; where one side is nil, the other side's value.
    public func within(_ others: Limits) -> Limits {
        func least<Value: Comparable>(_ a: Value?, _ b: Value?) -> Value? {
            if let a, let b { return min(a, b) }
            return a ?? b
        }
        var limits = Limits()
        limits.cpuTime = least(cpuTime, others.cpuTime)
        limits.memory = least(memory, others.memory)
        limits.processes = least(processes, others.processes)
        limits.fileSize = least(fileSize, others.fileSize)
        limits.openFiles = least(openFiles, others.openFiles)
        limits.output = least(output, others.output)
        limits.workspace = least(workspace, others.workspace)
        limits.wallTime = least(wallTime, others.wallTime)
        return limits
    }
}

/// One limit of a step or workflow: `.memory(.gibibytes(4))`.
public struct Limit: Sendable {
    let apply: @Sendable (inout Limits) -> Void

    /// Processor time, of all processes together where the machine has control groups.
    public static func cpuTime(_ time: Duration) -> Limit { Limit { $0.cpuTime = time.inSeconds } }
    /// Memory in use, of all processes together where the machine has control groups.
    public static func memory(_ bytes: ByteCount) -> Limit { Limit { $0.memory = bytes.bytes } }
    /// Processes and threads at the same time.
    public static func processes(_ count: Int) -> Limit { Limit { $0.processes = count } }
    /// The size of the largest file that a process may write.
    public static func fileSize(_ bytes: ByteCount) -> Limit { Limit { $0.fileSize = bytes.bytes } }
    /// Files that each process may have open at the same time.
    public static func openFiles(_ count: Int) -> Limit { Limit { $0.openFiles = count } }
    /// Output, whether the log keeps it or not.
    public static func output(_ bytes: ByteCount) -> Limit { Limit { $0.output = bytes.bytes } }
    /// Disk space of the workspace, the home folder and the temporary folder together.
    public static func workspace(_ bytes: ByteCount) -> Limit { Limit { $0.workspace = bytes.bytes } }
    /// Wall-clock time of a whole run. For a step, use ``Step/timeout(_:)``.
    public static func wallTime(_ time: Duration) -> Limit { Limit { $0.wallTime = time.inSeconds } }
}

/// A number of bytes: `.mebibytes(512)`.
public struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes.
    public var bytes: Int

    /// The same as ``bytes(_:)``.
    public init(bytes: Int) { self.bytes = bytes }

    /// Single bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }
    /// Units of 1,000,000,000 bytes.
    public static func gigabytes(_ count: Int) -> ByteCount {
        let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: 1_000_000_000)
        return ByteCount(bytes: isTooLarge ? .max : bytes)
    }
    /// Units of 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 10) }
    /// Units of 1,048,576 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 20) }
    /// Units of 1,073,741,824 bytes.
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 30) }

    /// The count in the largest unit that gives at least 1, with one decimal: `4.0 GiB`.
    public var description: String {
        var value = Double(bytes)
        for unit in ["bytes", "KiB", "MiB"] {
            if abs(value) < 1_024 { return unit == "bytes" ? "\(bytes) bytes" : "\(ByteCount.tenths(value)) \(unit)" }
            value /= 1_024
        }
        return "\(ByteCount.tenths(value)) GiB"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
