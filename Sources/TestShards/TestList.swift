/// The tests that a file of the workspace lists, one a line. The code under test wrote it.
struct TestList: Sendable, Equatable {
    /// Each once, in the order of the file.
    var tests: [String]

    static let mostBytes = 16 << 20
    static let mostTests = 200_000
    static let longestTest = 4_096

    /// - Throws: ``TestListProblem`` if a part of it would not be run as it is.
    init(_ bytes: [UInt8]) throws(TestListProblem) {
        var seen: Set<String> = []
        tests = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let blank: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
            let trimmed = line.drop(while: blank.contains).reversed().drop(while: blank.contains).reversed()
            guard !trimmed.isEmpty else { continue }
            guard let test = String(validating: trimmed, as: UTF8.self),
                !test.unicodeScalars.contains(where: \.isControl)
            else { throw TestListProblem("has a line that is no text: line \(tests.count + 1) or one after it") }
            guard trimmed.count <= Self.longestTest else {
                throw TestListProblem("has a line of more than \(Self.longestTest) bytes")
            }
            if seen.insert(test).inserted { tests.append(test) }
            guard tests.count <= Self.mostTests else {
                throw TestListProblem("lists more than \(Self.mostTests) tests; list files or suites")
            }
        }
        guard !tests.isEmpty else { throw TestListProblem("lists no test") }
    }
}

/// What is wrong with a list of tests, as the end of a sentence.
struct TestListProblem: Error, Equatable {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

extension Unicode.Scalar {
    /// Whether it is a control character; a tab inside a name is none.
    fileprivate var isControl: Bool { (value < 0x20 && value != 9) || value == 0x7F }
}
