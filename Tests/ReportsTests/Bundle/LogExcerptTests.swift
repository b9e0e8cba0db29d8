import Testing

@testable import Reports

/// The lines of a log about one test, and about no other.
@Suite struct LogExcerptTests {
    @Test(
        arguments: [
            // The name of another test begins the same.
            (
                "testOne",
                "Test Case 'A.testOneMore' started at 1\nerror: printed by A.testOneMore\nTest Case 'A.testOneMore' passed (1",
                nil
            ),
            (
                "testOne",
                "a.swift:3: error: A.testOne : no\nprinted by it\nTest Case 'A.testOne' failed (1\nTest Case 'A.testTwo' started at 1\nother",
                "a.swift:3: error: A.testOne : no\nprinted by it"
            ),
            // That it failed is known; what was said is wanted.
            (
                "adds",
                "✘ Test adds() recorded an issue at A.swift:3:5: no\n↳ 1 == 2\n✘ Test adds() failed after 0.1 seconds.\n✘ Test run with 1 test failed after 0.1 seconds.",
                "✘ Test adds() recorded an issue at A.swift:3:5: no\n↳ 1 == 2"
            ),
            ("adds", "✘ Test adds() failed after 0.1 seconds with 1 issue.\n", nil),
        ] as [(String, String, String?)])
    func `an excerpt contains only the test's own output`(name: String, log: String, excerpt: String?) {
        #expect(LogExcerpt.mention(of: name, in: Array(log.utf8), lines: 12) == excerpt)
    }
}
