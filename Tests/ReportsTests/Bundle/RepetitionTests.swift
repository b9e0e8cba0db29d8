import Testing

@testable import Reports

/// Which output of a test a bundle shows in addition to its message.
@Suite struct RepetitionTests {
    @Test func `an assertion that the message shows with its escape characters is left out`() {
        let message = #"XCTAssertEqual failed: ("\u{1B}[31mHello\u{1B}[0m") is not equal to ("Hello")"#
        let line =
            #"Tests/A.swift:4: error: ATests.testRed : XCTAssertEqual failed: ("Hello") is not equal to ("Hello")"#
        #expect(Repetition.removed(from: line, said: message) == nil)
        #expect(Repetition.removed(from: line + "\nprinted by it\n", said: message) == "printed by it\n")
    }

    @Test func `a message of several lines is left out with all of them`() {
        let message = "XCTAssertEqual failed: (\"id,name\n1,x\") is not equal to (\"id\")"
        let printed =
            "a.swift:4: error: A.testRows : XCTAssertEqual failed: (\"id,name\n1,x\") is not equal to (\"id\")"
        #expect(Repetition.removed(from: printed, said: message) == nil)
    }

    @Test(
        arguments: [
            // More than the message, on its line or after other output.
            ("expected four, got three", "expected four, got three: the table was empty"),
            ("assert 2 == 3", "setting up\nE  assert 2 == 3"),
            // In the message by chance.
            ("the value is not ok", "ok\nmore"),
            (nil, "anything"),
        ] as [(String?, String)])
    func `output that says more than the message is kept`(message: String?, printed: String) {
        #expect(Repetition.removed(from: printed, said: message) == printed)
    }
}
