import Foundation
import Testing

@testable import Diagnostics
@testable import Results

@Suite struct SARIFTests {
    private func read(_ text: String) throws -> [Finding] {
        try SARIFReading.findings(in: Data(text.utf8), named: "x.sarif")
    }

    @Test func `SARIF results have locations, rules and suggestions`() throws {
        let found = try read(
            """
            {"version": "2.1.0", "runs": [{
              "tool": {"driver": {"name": "lint", "rules": [
                {"id": "R0", "shortDescription": {"text": "short"}, "defaultConfiguration": {"level": "error"}}]}},
              "results": [
                {"ruleId": "R1", "level": "error", "message": {"text": "bad"}, "fixes": [{"description": {"text": "do so"}}],
                 "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/a%20b.c"},
                  "region": {"startLine": 3, "startColumn": 7, "snippet": {"text": "x = 1"}}}}]},
                {"ruleIndex": 0, "message": {}, "locations": []},
                {"ruleId": "R2", "message": {"text": "default"}, "locations": [{"physicalLocation":
                  {"artifactLocation": {"uri": "file:///workspace/b.c"}}}]},
                {"ruleId": "R3", "kind": "pass", "message": {"text": "fine"}},
                {"ruleId": "R4", "baselineState": "absent", "message": {"text": "gone"}},
                {"ruleId": "R5", "message": {"text": "accepted"}, "suppressions": [{"kind": "inSource"}]},
                "no result", {"ruleId": 7, "message": {"text": "no id"}}
              ]}]}
            """)
        #expect(found.map(\.rule) == ["R1", "R0", "R2"])
        #expect(found.map(\.severity) == [.error, .error, .warning])
        #expect(found.map(\.message) == ["bad", "short", "default"])
        #expect(found[0].file == "src/a b.c" && found[0].line == 3 && found[0].column == 7)
        #expect(found[0].suggestion == "do so" && found[0].excerpt == "x = 1")
        #expect(found[2].file == "/workspace/b.c")
    }

    @Test(arguments: ["", "{}", "[]", "null", "{\"runs\": 3}", "<xml/>", String(repeating: "[", count: 100_000)])
    func `files in other formats are refused`(text: String) {
        #expect(throws: SARIFProblem.self) { _ = try read(text) }
    }
}
