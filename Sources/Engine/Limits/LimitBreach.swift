import Results
import Pipeline
import Sandbox

/// A limit that a step reached, as its verdict says it: `memory: 4.0 GiB limit reached by step build`.
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
        LimitBreach("CPU time", Duration.seconds(seconds).inWords, step)
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

    /// What made a command end that did not pass, if it was a limit.
    ///
    /// - Parameters:
    ///   - end: How it ended; a shell gives a signal of what it ran as 128 and its number.
    ///   - usage: Of the step's control group, if there was one.
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
