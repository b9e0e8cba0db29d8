import ForeignText
import Results

/// Reads one format of test results.
///
/// A new format is one file with a type that conforms, and one line in ``ResultReadings``. ``XMLReading``,
/// ``JSONReading`` and ``JSONLineReading`` have what formats of a kind share.
protocol ResultReading: SendableMetatype {
    /// The format's name.
    static var format: ResultFormat { get }

    /// Whether a file that starts like this has the format. Only the content decides; file names are not reliable.
    static func recognises(_ start: FileStart) -> Bool

    /// - Parameter name: The file's name in findings.
    init(name: String, limits: TestResultLimits)

    /// The results in `source`. Broken parts become findings.
    mutating func read(_ source: ByteSource) -> TestResults
}
