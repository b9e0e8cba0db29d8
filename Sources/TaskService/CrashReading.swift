package import Results
package import Watching

/// What a crash report says, with what the repository and its releases say about it.
package struct CrashFindings: Sendable, Equatable {
    package var crash: TaskCrash
    /// For the agent, in Markdown: the report in short, the code of the likely frames, and its recent changes.
    package var context: String
    /// A newer release that has no such crash any more, with the reason; then there is nothing to do.
    package var fixedIn: String?

    package init(crash: TaskCrash, context: String, fixedIn: String? = nil) {
        (self.crash, self.context, self.fixedIn) = (crash, context, fixedIn)
    }
}

/// Reads crash reports for tasks.
package protocol CrashReading: Sendable {
    /// - Parameters:
    ///   - version: The version that the program said of itself, where the report does not.
    ///   - commit: The commit whose files are shown where the release is not known.
    /// - Throws: An error whose description is a sentence, if the bytes are no report.
    func findings(
        _ report: [UInt8], version: String?, commit: String, in repository: WatchedRepository
    ) async throws -> CrashFindings
}

/// Refuses every report.
package struct NoCrashReading: CrashReading {
    package init() {}

    package func findings(
        _ report: [UInt8], version: String?, commit: String, in repository: WatchedRepository
    ) async throws -> CrashFindings {
        throw TaskFailure.unusable("this pipectl reads no crash reports; put what it says into the text")
    }
}
