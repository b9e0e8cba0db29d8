import Results
import Pipeline
import Sandbox

/// A limit that a step reached. Its description is part of the reason: `memory: 4.0 GiB limit reached by step build`.
struct LimitBreach: Equatable, CustomStringConvertible {
    let description: String

    private init(_ name: String, _ value: String, _ step: String) {
        description = "\(name): \(value) limit reached by step \(step)"
    }

    static func memory(_ bytes: Int?, _ step: String) -> LimitBreach {
        LimitBreach("memory", bytes.map { "\(ByteCount(bytes: $0))" } ?? "the machine's", step)
    }
    static func processes(_ count: Int?, _ step: String) -> LimitBreach {
        LimitBreach("processes", count.map(Figures.grouped) ?? "the run's", step)
    }
    static func cpuTime(_ seconds: Double, _ step: String) -> LimitBreach {
        LimitBreach("CPU time", Figures.duration(seconds), step)
    }
    static func fileSize(_ bytes: Int, _ step: String) -> LimitBreach {
        LimitBreach("file size", "\(ByteCount(bytes: bytes))", step)
    }
    static func output(_ bytes: Int, _ step: String) -> LimitBreach {
        LimitBreach("output", "\(ByteCount(bytes: bytes))", step)
    }
    static func workspace(_ bytes: Int, measured: Int, _ step: String) -> LimitBreach {
        LimitBreach("workspace", WorkspaceMeter.reason(for: measured) ?? "\(ByteCount(bytes: bytes))", step)
    }

    /// Returns the limit because of which a command failed; nil if it failed for another reason.
    ///
    /// - Parameters:
    ///   - end: How the command ended. A shell reports a signal of its child as 128 plus the signal's number.
    ///   - usage: The usage of the step's control group, if it has one.
    static func cause(of end: ProcessEnd, limits: Limits, usage: GroupUsage?, step: String) -> LimitBreach? {
        let signal = end.signal ?? end.exitCode.flatMap { (129..<160).contains($0) ? $0 - 128 : nil }
        if let usage, usage.outOfMemoryKills > 0 { return .memory(limits.memory, step) }
        if let usage, usage.refusedProcesses > 0 { return .processes(limits.processes, step) }
        switch signal {
        case 24?: return limits.cpuTime.map { .cpuTime($0, step) }  // SIGXCPU
        case 25?: return limits.fileSize.map { .fileSize($0, step) }  // SIGXFSZ
        default: return nil
        }
    }
}
