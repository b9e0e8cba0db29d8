import Results
import TestBasics
import Testing

@testable import Archive

@Suite struct TestResultsReaderTests {
    private static func results(_ count: Int, from seed: UInt64) -> [TestResult] {
        var chance = SplitMix64(seed: seed)
        let texts = [
            "", "adds()", "Unit/App \"quoted\" \\ back", "line\nfeed\ttab\u{1}\u{1f}", "größer 🧪 \u{2028}", "a/b/c",
            "e\u{301}",
        ]
        return (0..<count).map { number in
            TestResult(
                suite: texts[chance.below(texts.count)], name: "\(texts[chance.below(texts.count)])\(number)",
                status: TestResult.Status.allCases[chance.below(5)],
                duration: chance.below(2) == 0 ? nil : Double(chance.below(100_000)) / 977,
                message: chance.below(3) == 0 ? texts[chance.below(texts.count)] : nil,
                details: chance.below(5) == 0 ? String(repeating: "trace\n", count: chance.below(9)) : nil,
                file: chance.below(2) == 0 ? "Tests/A.swift" : nil,
                line: chance.below(2) == 0 ? chance.below(9_000) : nil,
                attempt: 1 + chance.below(3))
        }
    }

    @Test(arguments: [0, 1, 300]) func `what the archive writes is read without a decoder`(count: Int) throws {
        let results = Self.results(count, from: UInt64(count))
        let compact = Array((try ArchiveJSON.compactText(results) + "\n").utf8)
        #expect(TestResultsReader.read(compact) == results)
        #expect(TestResultsReader.read(try ArchiveJSON.pretty(results)) == results)
    }

    @Test(arguments: [
        "", "[", "[]x", "{}", "null", "[1]", "[{}]", #"[{"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"suite":"a","name":"b","status":"new"}]"#,
        #"[{"attempt":01,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"attempt":1,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"duration":1e999,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"duration":1.,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"line":null,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"later":2,"suite":"a","name":"b","status":"passed"}]"#,
        #"[{"attempt":1,"suite":"a","name":"\ud83e\uddea","status":"passed"}]"#,
        #"[{"attempt":1,"suite":"a","name":"b","status":"passed"},]"#,
    ]) func `anything else is left to the decoder`(text: String) {
        #expect(TestResultsReader.read(Array(text.utf8)) == nil)
    }

    @Test func `where bytes were changed it agrees with the decoder or says nothing`() throws {
        let whole = Array(try ArchiveJSON.compactText(Self.results(6, from: 7)).utf8)
        var chance = SplitMix64(seed: 9)
        var read = 0
        for _ in 0..<4_000 {
            var bytes = whole
            for _ in 0...chance.below(3) {
                switch chance.below(3) {
                case 0: bytes[chance.below(bytes.count)] = UInt8(chance.below(256))
                case 1: bytes.remove(at: chance.below(bytes.count))
                default: bytes.insert(Array("0.e-\",}]\\u \n".utf8)[chance.below(12)], at: chance.below(bytes.count))
                }
            }
            guard let own = TestResultsReader.read(bytes) else { continue }
            read += 1
            #expect(try own == ArchiveJSON.decode([TestResult].self, from: bytes))
        }
        #expect(read > 200)
    }
}
