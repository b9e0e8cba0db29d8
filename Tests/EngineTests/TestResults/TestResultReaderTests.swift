import Engine
import Testing

@Suite struct TestResultReaderTests {
    @Test func anIDNamesSuiteAndTest() {
        #expect(TestResult(suite: "S", name: "t()", status: .passed).id == "S/t()")
    }
}
