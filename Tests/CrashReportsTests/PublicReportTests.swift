import Foundation
import Testing

@testable import CrashReports

/// Reads a folder of real reports, which the repository does not contain: `script/crash-reports`.
struct PublicReportTests {
    /// What a person read in a report.
    private struct Expected: Decodable {
        var function: String?
        var file: String?
        var image: String?
    }

    static let folder = ProcessInfo.processInfo.environment["PIPECTL_CRASH_REPORTS"]

    @Test(.enabled(if: folder != nil)) func theTopCallIsTheRightOne() throws {
        let folder = try #require(Self.folder)
        let file = URL(fileURLWithPath: folder).appending(path: "expected.json")
        let expected = try JSONDecoder().decode([String: Expected].self, from: Data(contentsOf: file))
        var right: [CrashReport.Format: Int] = [:]
        var all: [CrashReport.Format: Int] = [:]
        var wrong: [String] = []
        for (name, wanted) in expected.sorted(by: { $0.key < $1.key }) {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
            do throws(CrashReportError) {
                let report = try CrashReport.read(bytes)
                all[report.format, default: 0] += 1
                if let problem = Self.problem(report, wanted) {
                    wrong.append("\(name): \(problem)")
                } else {
                    right[report.format, default: 0] += 1
                }
            } catch {
                wrong.append("\(name): \(error)")
            }
        }
        for line in wrong { print("crash-reports: wrong: \(line)") }
        for format in CrashReport.Format.allCases {
            print("crash-reports: \(format.rawValue): \(right[format] ?? 0) of \(all[format] ?? 0)")
        }
        let count = right.values.reduce(0, +)
        print("crash-reports: \(count) of \(expected.count) have the right top function and file")
        #expect(expected.count >= 30)
        #expect(Double(count) >= 0.9 * Double(expected.count))
    }

    private static func problem(_ report: CrashReport, _ wanted: Expected) -> String? {
        guard let top = report.top else { return "no call of the program was found" }
        if let function = wanted.function {
            let found = FunctionName.stable(top.function ?? "", image: top.image)
            guard found == FunctionName.stable(function, image: top.image) else {
                return "the function is \(top.function ?? "unknown")"
            }
        }
        if let file = wanted.file, top.file?.fileName != file { return "the file is \(top.file ?? "unknown")" }
        if let image = wanted.image, top.image != image { return "the image is \(top.image ?? "unknown")" }
        return nil
    }
}
