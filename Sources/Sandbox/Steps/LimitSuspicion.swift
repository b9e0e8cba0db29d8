import Results
import Pipeline

/// A guess at the limit because of which a command failed, for limits whose breaches nothing counts.
///
/// A process that exceeds a limit of setrlimit(2) gets an error, and nobody else learns of it. Most programs print the
/// error, so the last lines of the output hold the words of errno or of a language's runtime. The description says that
/// it is a guess.
package struct LimitSuspicion: Equatable, CustomStringConvertible {
    /// The limit and its value: `memory, 200.0 MiB for each process`.
    package var limit: String
    /// The words in the log on which the guess rests.
    package var words: String

    package var description: String { "it may have reached its limit of \(limit): its log contains \"\(words)\"" }

    /// Nil if the end of the log mentions none of the limits that were set.
    ///
    /// - Parameter end: The last lines that the command wrote.
    package init?(in end: String, of limits: ProcessLimits) {
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
