import Testing

@testable import TestIntegrity

/// The reader's answers are untrusted too: only complete and possible ones are used.
@Suite struct SwiftReaderProtocolTests {
    private static let facts: SwiftFileFacts = {
        var facts = SwiftFileFacts()
        facts.tests = [TestShape(framework: .swiftTesting, suite: "A", name: "b", line: 3)]
        facts.tests[0].cases = 2
        facts.tests[0].words = WordBag(["x", "y", "x"])
        return facts
    }()

    @Test func `a request is read as it was written`() throws {
        let sources = [
            SwiftSource(.tests, Array("let a = 1\ntests 3\n".utf8)), SwiftSource(.manifest, [0, 0xFF, 0x0A]),
            SwiftSource(.outline, []),
        ]
        let read = try #require(SwiftReaderProtocol.sources(of: SwiftReaderProtocol.request(sources)))
        #expect(read.map(\.scope) == [.tests, .manifest, .outline])
        #expect(read.map(\.bytes) == sources.map(\.bytes))
    }

    @Test(arguments: [
        "tests", "tests 4\nabc", "tests -1\n", "nothing 0\n", "tests 0 0\n", "tests 99999999999999999999\n",
    ])
    func `what is no request has no sources`(_ text: String) {
        #expect(SwiftReaderProtocol.sources(of: Array(text.utf8)) == nil)
    }

    @Test func `an answer is read as it was written`() {
        let results: [Result<SwiftFileFacts, UnreadableSource>] = [
            .success(Self.facts), .failure(UnreadableSource(line: 7, "it is not valid Swift")),
        ]
        #expect(SwiftReaderProtocol.results(of: results.flatMap(SwiftReaderProtocol.line)) == results)
    }

    @Test func `what follows garbage or half a line is not taken`() {
        let line = SwiftReaderProtocol.line(.success(Self.facts))
        #expect(SwiftReaderProtocol.results(of: line + Array("Fatal error\n".utf8) + line).count == 1)
        #expect(SwiftReaderProtocol.results(of: line + line.dropLast()).count == 1)
        #expect(SwiftReaderProtocol.results(of: Array("{}\n".utf8)).isEmpty)
    }

    @Test func `numbers that no file can have are not taken`() {
        func isTaken(_ change: (inout SwiftFileFacts) -> Void) -> Bool {
            var facts = Self.facts
            change(&facts)
            return !SwiftReaderProtocol.results(of: SwiftReaderProtocol.line(.success(facts))).isEmpty
        }
        #expect(isTaken { _ in })
        #expect(!isTaken { $0.tests[0].cases = .max })
        #expect(!isTaken { $0.tests[0].line = 0 })
        #expect(!isTaken { $0.tests[0].body.tries = -1 })
        #expect(!isTaken { $0.tests[0].body.assertions = [Assertion(strength: .value, line: -3, text: "")] })
        #expect(
            !isTaken {
                $0.tests[0].body.calls = [BodyShape.Call(name: "a", line: 1, times: -Int.max, isConditional: false)]
            })
    }
}
