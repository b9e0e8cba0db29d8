/// How much a step, or a whole run, may use of the box; nil means: what the box sets.
///
/// A limit that is reached ends the step with the limit's name and value as its reason.
public struct Limits: Sendable, Equatable, Codable {
    /// Seconds of processor time: of all processes together where the box has control groups, else of each process.
    public var cpuTime: Double?
    /// Bytes of memory: of all processes together where the box has control groups, else of each process.
    public var memory: Int?
    /// Processes and threads at a time.
    public var processes: Int?
    /// Bytes of the largest file that may be written.
    public var fileSize: Int?
    /// Files that each process may have open.
    public var openFiles: Int?
    /// Bytes of output. What a log keeps of it is the box's own matter.
    public var output: Int?
    /// Bytes on disk of the workspace, home and temporary folder together.
    public var workspace: Int?
    /// Seconds, wall clock; of a step it is its time-out.
    public var wallTime: Double?

    public init() {}

    public init(_ limits: [Limit]) {
        for limit in limits { limit.apply(&self) }
    }

    /// These limits, and where they say nothing, `others`.
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

    /// The smaller one of each, where either says something.
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

    /// Processor time.
    public static func cpuTime(_ time: Duration) -> Limit { Limit { $0.cpuTime = time.inSeconds } }
    /// Memory in use.
    public static func memory(_ bytes: ByteCount) -> Limit { Limit { $0.memory = bytes.bytes } }
    /// Processes and threads at a time.
    public static func processes(_ count: Int) -> Limit { Limit { $0.processes = count } }
    /// The largest file that may be written.
    public static func fileSize(_ bytes: ByteCount) -> Limit { Limit { $0.fileSize = bytes.bytes } }
    /// Files that each process may have open.
    public static func openFiles(_ count: Int) -> Limit { Limit { $0.openFiles = count } }
    /// Output, kept in the log or not.
    public static func output(_ bytes: ByteCount) -> Limit { Limit { $0.output = bytes.bytes } }
    /// The workspace with its home and temporary folder, on disk.
    public static func workspace(_ bytes: ByteCount) -> Limit { Limit { $0.workspace = bytes.bytes } }
    /// From start to end, by the clock; for a run, whose steps have ``Step/timeout(_:)``.
    public static func wallTime(_ time: Duration) -> Limit { Limit { $0.wallTime = time.inSeconds } }
}

/// A number of bytes: `.mebibytes(512)`.
public struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    public var bytes: Int

    public init(bytes: Int) { self.bytes = bytes }

    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }
    /// 1,024 bytes each.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 10) }
    /// 1,048,576 bytes each.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 20) }
    /// 1,073,741,824 bytes each.
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(bytes: count << 30) }

    /// In the largest unit that leaves at least 1, with one decimal: `4.0 GiB`.
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
