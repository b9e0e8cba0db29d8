import Results
import TestReports
import Foundation

/// A result file that a tool wrote. `Fixtures/README.md` says which ones come from real runs.
enum Fixture {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    /// The results of the fixture, whose format is recognised by its content.
    static func results(_ name: String) throws -> TestResults {
        TestResultReader().read(try bytes(name), named: name)
    }

    static var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { !$0.hasSuffix(".md") }
                .sorted()
        }
    }
}

extension TestResults {
    /// The last try of the test with that name.
    subscript(name: String) -> TestResult? { tests.last { $0.name == name } }

    /// `passed/failed/errored/skipped/expectedFailure`.
    var tally: String {
        let counts = counts
        return "\(counts.passed)/\(counts.failed)/\(counts.errored)/\(counts.skipped)/\(counts.expectedFailure)"
    }
}

extension TestResult {
    /// `file:line`.
    var place: String { "\(file ?? "-"):\(line.map(String.init) ?? "-")" }
}

/// The results of a JUnit text.
func junit(_ text: String, limits: TestResultLimits = .init()) -> TestResults {
    TestResultReader(limits: limits).read(Array(text.utf8), named: "t.xml", format: .junit)
}
