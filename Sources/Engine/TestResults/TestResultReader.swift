/// Reads test results from files that untrusted code wrote.
public struct TestResultReader: Sendable {
    /// How much of a file is believed.
    public var limits: TestResultLimits

    public init(limits: TestResultLimits = .init()) {
        self.limits = limits
    }

    /// The results in `bytes`; content never throws, a broken file gives a finding and what could be read before the break.
    ///
    /// - Parameters:
    ///   - name: what findings call the file.
    ///   - format: `nil` looks at the first bytes.
    public func read(_ bytes: [UInt8], named name: String, format: ResultFormat? = nil) -> TestResults {
        TestResults()
    }

    /// The results in the regular file at `path`, read piece by piece.
    ///
    /// The last component of `path` is never followed when it is a link; a caller that takes paths from untrusted code
    /// checks the folders above it.
    ///
    /// - Throws: ``TestResultFileError`` when the file can't be opened or read; never for what is in it.
    public func read(file path: String, named name: String, format: ResultFormat? = nil) throws -> TestResults {
        TestResults()
    }
}
