import ForeignText
import Foundation
package import Results

/// Completes results with facts from the step's output, for result files that lack them.
///
/// `swift test --parallel --xunit-output` writes only the word "failure" for every failed XCTest on Linux, and CTest's
/// JUnit XML has no message at all. Only the console has the messages.
package struct TestLog {
    /// The most bytes that are read, from the end of the output, where failures are printed.
    private static let mostBytes = 8 << 20

    private let bytes: [UInt8]

    package init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes.suffix(Self.mostBytes)) }

    /// The output in a file.
    ///
    /// - Throws: Why the file can't be read.
    package init(file: String) throws {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: size - min(size, UInt64(Self.mostBytes)))
        bytes = [UInt8](try handle.readToEnd() ?? Data())
    }

    /// Whether `tests` lack facts that the output may have.
    package static func isWanted(for tests: [TestResult]) -> Bool { tests.contains { isBare($0) || mayBeCTests($0) } }

    private static func isBare(_ test: TestResult) -> Bool {
        guard test.status.isFailure else { return false }
        return test.message == nil || test.message == "failure" || test.message == "failed"
    }

    /// Whether CTest may have written the test, whose message is then its own output: the suite is empty or the build's
    /// name.
    private static func mayBeCTests(_ test: TestResult) -> Bool {
        test.status.isFailure && test.suite.split(separator: ".").count <= 1
    }

    /// The results, with the output's message for failed tests that have none.
    package func completing(_ tests: [TestResult]) -> [TestResult] {
        // The output may be long, so it is read only for who needs it.
        let console = tests.contains(where: Self.isBare) ? consoleFailures() : [:]
        let ctest = tests.contains(where: Self.mayBeCTests) ? ctestEndings() : [:]
        guard !console.isEmpty || !ctest.isEmpty else { return tests }
        return tests.map { test in
            guard test.status.isFailure else { return test }
            if Self.isBare(test), let told = Self.match(test, console[test.name] ?? []) {
                return Self.completed(test, told)
            }
            guard Self.mayBeCTests(test), let ending = ctest[test.name] else { return test }
            var test = test
            test.message = [ending, test.message].compactMap(\.self).joined(separator: "\n")
            return test
        }
    }

    private static func completed(_ test: TestResult, _ told: TestResult) -> TestResult {
        var test = test
        test.message = told.message
        test.details = [told.details, test.details].compactMap(\.self).filter { $0 != "failure" }
            .joined(separator: "\n\n")
        if test.details?.isEmpty == true { test.details = nil }
        if test.line == nil { (test.file, test.line) = (told.file, told.line) }
        test.status = told.status
        return test
    }

    /// The test of the console that this one must be, if there is only one; its suite may lack the module.
    private static func match(_ test: TestResult, _ candidates: [TestResult]) -> TestResult? {
        let fitting = candidates.filter {
            $0.suite == test.suite || test.suite.hasSuffix("." + $0.suite) || $0.suite.hasSuffix("." + test.suite)
        }
        return Set(fitting.map(\.suite)).count == 1 ? fitting.last : nil
    }

    /// The tests of XCTest that failed with a message, by name.
    private func consoleFailures() -> [String: [TestResult]] {
        // Without one of these, no line is read: a log may have a million of them.
        let marks = ["Test Case '", " recorded an issue", "Fatal error: "]
        guard bytes.withUnsafeBytes({ bytes in marks.contains { bytes.offset(of: $0) != nil } }) else { return [:] }
        var isFirst = true
        let bytes = bytes
        let source = ByteSource {
            defer { isFirst = false }
            return isFirst ? bytes : []
        }
        var reading = ConsoleReading(name: "the output", limits: TestResultLimits())
        let failed = reading.read(source).tests.filter { $0.status.isFailure && $0.message != nil }
        return Dictionary(grouping: failed.prefix(10_000), by: \.name)
    }

    /// How CTest reports that a test ended, by name: `2/4 Test #2: slow .....***Timeout   1.00 sec`.
    private func ctestEndings() -> [String: String] {
        var endings: [String: String] = [:]
        for line in lines(with: "***") {
            guard line.count < 1_000, endings.count < 10_000 else { continue }
            let text = String(uncoloured: Array(line))
            guard let test = text.byteRange(of: " Test "), let stars = text.byteRange(of: "***"),
                test.upperBound < stars.lowerBound, text[test.upperBound...].drop(while: { $0 == " " }).first == "#",
                let colon = text[test.upperBound..<stars.lowerBound].byteRange(of: ": ")
            else { continue }
            var name = text[colon.upperBound..<stars.lowerBound]
            while name.last == "." || name.last == " " { name = name.dropLast() }
            endings[String(name)] = Self.sentence(String(text[stars.upperBound...]))
        }
        return endings
    }

    /// The lines that contain `text`.
    private func lines(with text: String) -> [ArraySlice<UInt8>] {
        var (lines, start) = ([ArraySlice<UInt8>](), bytes.startIndex)
        while let hit = bytes.withUnsafeBytes({ $0.offset(of: text, from: start) }) {
            let begin = bytes[start..<hit].lastIndex(of: .newline).map { $0 + 1 } ?? start
            let end = bytes[hit...].firstIndex(of: .newline) ?? bytes.endIndex
            lines.append(bytes[begin..<end])
            start = end
        }
        return lines
    }

    private static func sentence(_ ending: String) -> String? {
        let words = ending.split(separator: " ").map(String.init)
        let time = words.count > 2 && words.last == "sec" ? "\(words[words.count - 2]) s" : nil
        if ending.hasPrefix("Timeout") { return "CTest stopped it after \(time ?? "its limit"): timeout" }
        if ending.hasPrefix("Exception: ") { return "It crashed: \(words.dropFirst().first ?? "")" }
        if ending.hasPrefix("Not Run") { return "CTest did not run it: its program is missing" }
        return nil
    }
}

extension Finding {
    /// Whether one of the failed `tests` has the same location and text, or XCTest's line about it.
    package func isTold(by tests: [TestResult]) -> Bool {
        guard severity == .error, rule != "crash" else { return false }
        return tests.contains { test in
            guard test.status.isFailure, let said = test.message else { return false }
            // "Class.test : XCTAssertEqual failed: …"
            let own = ((test.suite.split(separator: ".").last.map { $0 + "." } ?? "") + test.name) + " : "
            if message.hasPrefix(own) || message.hasPrefix("-[\(test.suite) \(test.name)] : ") { return true }
            guard let line, line == test.line, let file, let place = test.file else { return false }
            guard file == place || file.hasSuffix("/" + place) || place.hasSuffix("/" + file) else { return false }
            let words = message.split(separator: "\n").first ?? ""
            return said.byteRange(of: String(words)) != nil
                || message.byteRange(of: String(said.split(separator: "\n").first ?? " ")) != nil
                || test.details.map { $0.byteRange(of: String(words)) != nil } == true
        }
    }
}
