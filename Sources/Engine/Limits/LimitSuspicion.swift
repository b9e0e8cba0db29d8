import Results
import Pipeline
import Sandbox

/// A limit that a command may have failed by, where nothing counts how often a limit was reached.
///
/// What setrlimit(2) limits is refused to the process that asks for it, and only that process knows. It mostly says so: in
/// its last lines are the words of errno, or of a language's runtime. So this is a guess, and says that it is one.
struct LimitSuspicion: Equatable, CustomStringConvertible {
    /// The limit and its value: `memory, 200.0 MiB for each process`.
    var limit: String
    /// What the log says.
    var words: String

    var description: String { "it may have reached its limit of \(limit): its log contains \"\(words)\"" }

    /// Nil when the end of the log says nothing of a limit that was set.
    ///
    /// - Parameter end: The last lines that the command wrote.
    init?(in end: String, of limits: ProcessLimits) {
        var candidates: [(limit: String, words: [String])] = []
        if limits.data > 0 {
            candidates.append(
                ("memory, \(ByteCount(bytes: Int(clamping: limits.data))) for each process", LimitSuspicion.memory))
        }
        if limits.processes > 0 {
            candidates.append(
                (
                    "processes, \(Figures.grouped(Int(clamping: limits.processes))) of the step's user",
                    LimitSuspicion.processes
                ))
        }
        if limits.openFiles > 0 {
            candidates.append(
                (
                    "open files, \(Figures.grouped(Int(clamping: limits.openFiles))) for each process",
                    LimitSuspicion.openFiles
                ))
        }
        if limits.fileSize > 0 {
            candidates.append(
                ("file size, \(ByteCount(bytes: Int(clamping: limits.fileSize)))", LimitSuspicion.fileSize))
        }
        let text = end.lowercased()
        for (limit, words) in candidates {
            guard let found = words.first(where: { text.contains($0.lowercased()) }) else { continue }
            (self.limit, self.words) = (limit, found)
            return
        }
        return nil
    }

    private static let memory = [
        "Cannot allocate memory", "MemoryError", "bad_alloc", "OutOfMemoryError", "out of memory", "memory exhausted",
        "memory allocation of", "Allocation failed", "failed to allocate",
    ]
    private static let processes = [
        "Cannot fork", "Resource temporarily unavailable", "can't start new thread", "unable to create native thread",
        "fork failed", "BlockingIOError",
    ]
    private static let openFiles = ["Too many open files"]
    private static let fileSize = ["File too large", "File size limit exceeded"]
}
