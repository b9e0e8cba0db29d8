import Results

/// All formats that are read. The first that recognises a file reads it.
enum ResultReadings {
    static let all: [any ResultReading.Type] = [
        TRXReading.self, NUnit3Reading.self, NUnit2Reading.self, XUnitReading.self,
        EventReading.self, GoTestReading.self, DartReading.self,
        CTRFReading.self, JestReading.self, MochaReading.self, RSpecReading.self, CucumberReading.self,
        XCResultReading.self,
        TAPReading.self, ConsoleReading.self, JUnitReading.self,
    ]

    static func reading(of start: FileStart) -> (any ResultReading.Type)? { all.first { $0.recognises(start) } }

    static func reading(named format: ResultFormat) -> (any ResultReading.Type)? { all.first { $0.format == format } }
}
