import Results
import Testing

@Suite struct TestRenamesTests {
    private let before = """
        @Suite struct OldTests {
            @Test func readsAFile() throws {
                let file = try open("a")
                #expect(file.size == 3)
            }
            @Test func writes() {
                #expect(true)
            }
        }
        def test_old(tmp):
            value = make(tmp)
            assert value == 3
        def test_other():
            pass
        """

    private func pairs(_ vanished: [String], _ added: [String], after: String) -> [String] {
        TestRenames(.init(before: [before], after: [after])).pairs(vanished: vanished, added: added)
            .map { "\($0.from) → \($0.to)\($0.hasSameBody ? "" : " ?")" }.sorted()
    }

    @Test func `a test with the same body and another name is a rename`() {
        let after = """
            struct NewTests {
              @Test func aFileIsRead() throws {
                    let file = try open("a")

                    #expect(file.size == 3)
              }
            }
            def test_new(tmp):
                value = make(tmp)
                assert value == 3
            """
        #expect(
            pairs(["OldTests/readsAFile()", "t/test_old"], ["NewTests/aFileIsRead()", "t/test_new"], after: after) == [
                "OldTests/readsAFile() → NewTests/aFileIsRead()", "t/test_old → t/test_new",
            ])
    }

    @Test func `a test with another body and another name is no rename`() {
        let after = "struct OldTests { @Test func readsAFileToo() { #expect(true) }\n}"
        #expect(pairs(["OldTests/readsAFile()"], ["OldTests/readsAFileToo()"], after: after) == [])
        let weakened = "@Test func readsAFile() {\n    #expect(true)\n}"
        #expect(pairs(["OldTests/readsAFile()"], ["NewTests/readsAFile()"], after: weakened) == [])
    }

    @Test func `a test without source is recognised by its own name only`() {
        #expect(
            pairs(["A/generated case"], ["B/generated case"], after: "") == ["A/generated case → B/generated case ?"])
        #expect(pairs(["A/generated case"], ["A/generated cases"], after: "") == [])
    }

    @Test func `a renamed test is in no other list`() {
        func test(_ name: String, _ status: TestResult.Status) -> TestResult {
            TestResult(suite: "S", name: name, status: status)
        }
        let here = [test("b", .failed), test("d", .passed), test("f", .skipped)]
        let there = [test("a", .failed), test("c", .failed), test("e", .passed)]
        var comparison = Comparison.between(here, and: there, targetRun: 1, targetCommit: "c")
        comparison.take(
            [("a", "b"), ("c", "d"), ("e", "f")].map { .init(from: "S/\($0.0)", to: "S/\($0.1)", hasSameBody: true) },
            here, there)
        #expect(comparison.vanished.isEmpty && comparison.newlyFailing.isEmpty && comparison.added == [])
        #expect(comparison.alsoFailing == ["S/b"] && comparison.fixed == ["S/d"])
        #expect(comparison.newlySkipped == ["S/f"], "a new name does not hide a skip")
    }

    @Test func `a time far above the earlier ones is slower`() throws {
        #expect(DurationHistory([1, 1, 1, 1]) == nil, "too few")
        let steady = try #require(DurationHistory([1, 1.02, 0.98, 1.01, 0.99, 9]))
        #expect(!steady.isSlower(1.9) && steady.isSlower(2.1), "one slow night does not hide a slower test")
        #expect(!steady.isSlower(3, load: 2) && steady.isSlower(3.2, load: 2), "the box was busy")
        let long = try #require(DurationHistory([10, 10.1, 9.9, 10, 10]))
        #expect(!long.isSlower(14) && long.isSlower(16), "a second more of ten is not much")
        let noisy = try #require(DurationHistory([1, 2, 3, 4, 5, 6, 7]))
        #expect(!noisy.isSlower(10) && noisy.isSlower(30))
        let fast = try #require(DurationHistory(Array(repeating: 0.001, count: 9)))
        #expect(!fast.isSlower(0.9), "hundreds of times as long, and still nothing")
        #expect(!fast.isSlower(.infinity) && !fast.isSlower(.nan))
        #expect(DurationHistory([.nan, .infinity, -1, 1, 1, 1, 1]) == nil)
    }

    @Test func `a busy box makes all tests slower, a change some`() {
        func tests(_ seconds: [Double]) -> [TestResult] {
            seconds.enumerated().map {
                TestResult(suite: "S", name: "\($0.offset)", status: .passed, duration: $0.element)
            }
        }
        let before = tests([0.1, 0.2, 0.3, 0.4, 0.5])
        #expect(RunLoad.factor(tests([0.25, 0.5, 0.75, 1, 9]), beside: before) == 2.5)
        #expect(RunLoad.factor(tests([0.1, 0.2, 0.3, 0.4, 9]), beside: before) == 1)
        #expect(RunLoad.factor(tests([0.05, 0.1, 0.1, 0.1, 0.1]), beside: before) == 1, "an idle box allows no less")
        #expect(RunLoad.factor(tests([9, 9]), beside: before) == 1, "too few to tell")
        #expect(RunLoad.factor([], beside: before) == 1)
    }
}
