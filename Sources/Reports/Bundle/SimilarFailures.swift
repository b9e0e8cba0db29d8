import Results

/// What failed tests share if they failed for the same reason.
struct SimilarFailures: Hashable {
    let file: String
    let line: Int
    let message: String
    let step: String?
    let standing: ReportFacts.Standing

    /// Nil for a test whose location or message is unknown: then nothing shows that another test is like it.
    init?(_ test: ReportFacts.Test, step: String?) {
        guard let file = test.result.file, let line = test.result.line,
            let message = test.result.message, !message.isEmpty
        else { return nil }
        (self.file, self.line, self.message) = (file, line, message)
        (self.step, standing) = (step, test.standing)
    }
}
