import Results

/// Reads one format of test results.
///
/// A new format is a file with a type that conforms, and a line in ``all``. ``XMLReading``, ``JSONReading`` and
/// ``JSONLineReading`` do the work that formats of a kind have in common.
protocol ResultReading: SendableMetatype {
    /// What the format is called.
    static var format: ResultFormat { get }

    /// Whether a file with this start is of the format. Decided by content alone: names of files say nothing.
    static func recognises(_ start: FileStart) -> Bool

    /// - Parameter name: What findings call the file.
    init(name: String, limits: TestResultLimits)

    /// The results in `source`; what is broken becomes a finding.
    mutating func read(_ source: ByteSource) -> TestResults
}

/// All formats that are read. The first that recognises a file reads it.
enum ResultReadings {
    static let all: [any ResultReading.Type] = [
        TRXReading.self, NUnit3Reading.self, NUnit2Reading.self, XUnitReading.self,
        EventReading.self, GoTestReading.self, DartReading.self,
        CTRFReading.self, JestReading.self, MochaReading.self, RSpecReading.self,
        TAPReading.self, ConsoleReading.self, JUnitReading.self,
    ]

    static func reading(of start: FileStart) -> (any ResultReading.Type)? { all.first { $0.recognises(start) } }

    static func reading(named format: ResultFormat) -> (any ResultReading.Type)? { all.first { $0.format == format } }
}
