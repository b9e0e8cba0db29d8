import Foundation
import Results
import ReviewAnswers
import Testing

@Suite struct ReviewAnswerTests {
    private func finding(_ fields: String) throws -> ReviewFinding {
        let answer = #"{"findings": [{"severity": "error", "message": "m", "file": "a.c"\#(fields)}]}"#
        let before = ReviewRecord(head: String(repeating: "a", count: 40), since: nil, findings: [])
        return try #require(ReviewAnswer.read(Data(answer.utf8)).record(after: before, maximum: 9).findings.first)
    }

    @Test func `new text for lines is kept as it is`() throws {
        let found = try finding(#", "line": 3, "endLine": 5, "replacement": "a\n\tb\n""#)
        #expect(found.line == 3 && found.endLine == 5 && found.replacement == "a\n\tb\n")
    }

    @Test(arguments: [
        #", "replacement": "x""#, #", "line": 0, "replacement": "x""#,
        #", "line": 3, "replacement": "a\u202eb""#, #", "line": 3, "replacement": "a\u001b[31m""#,
        #", "line": 3, "replacement": "a\u200bb""#, #", "line": 3, "replacement": "a\u0000""#,
        #", "line": 3, "replacement": "\#(String(repeating: "x", count: 4_001))""#,
    ])
    func `text that can't be shown as it is, or has no line, is no replacement`(fields: String) throws {
        #expect(try finding(fields).replacement == nil)
    }

    @Test func `an end before the line is ignored`() throws {
        #expect(try finding(#", "line": 3, "endLine": 2"#).endLine == nil)
        #expect(try finding(#", "endLine": 2"#).endLine == nil)
    }
}
