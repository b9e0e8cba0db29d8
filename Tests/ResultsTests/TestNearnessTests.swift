import Results
import Pipeline
import Testing

/// Which tests are near a change, and in which order workflows get them.
struct TestNearnessTests {
    @Test(arguments: [
        ("Sources/Git/Repository+Refs.swift", "Tests/GitTests/RepositoryTests.swift", 1),
        ("Sources/Git/OID.swift", "Tests/GitTests/RefTests.swift", 3),
        ("Sources/Git/OID.swift", "Tests/EngineTests/OIDTests.swift", 1),
        ("Tests/GitTests/Fixture.swift", "Tests/GitTests/RefTests.swift", 2),
        ("Tests/GitTests/RefTests.swift", "Tests/GitTests/RefTests.swift", 0),
        ("src/click/types.py", "tests/test_types.py", 1), ("src/click/__init__.py", "tests/test_click.py", 1),
        ("web/cart.ts", "web/__tests__/cart.spec.ts", 1), ("server/user_store.go", "server/user_store_test.go", 1),
        ("server/user.go", "server/session_test.go", 2), ("src/lib.rs", "tests/parser.rs", nil),
        ("README.md", "Tests/GitTests/RefTests.swift", nil), ("src/click/core.py", "tests/test_types.py", nil),
        ("tests/README.md", "spec/helper.rb", nil),
    ])
    func distance(changed: String, test: String, distance: Int?) {
        let nearness = TestNearness(changedFiles: [ChangedFile(status: .modified, path: changed)])
        #expect(nearness.distance(file: test, suite: "x") == distance)
    }

    @Test func `a test without a file is located by its suite`() {
        let nearness = TestNearness(changedFiles: [
            ChangedFile(status: .renamed, path: "Sources/New.swift", oldPath: "Sources/Glob.swift")
        ])
        #expect(nearness.distance(file: nil, suite: "PipelineTests.GlobTests") == 1)
        #expect(nearness.distance(file: nil, suite: "PipelineTests.CronTests") == nil)
        let files = ["a/test_x.py", "b/FooTests.swift", "c.spec.ts", "src/testing/core.py", "test", "README.md"]
        let changed = files.map { ChangedFile(status: .added, path: $0) }
        #expect(TestNearness(changedFiles: changed).testFiles == ["a/test_x.py", "b/FooTests.swift"])
        #expect(!nearness.isEmpty && TestNearness(changedFiles: []).isEmpty)
    }

    private func test(_ name: String, file: String? = nil, seconds: Double? = 1) -> KnownTest {
        KnownTest(suite: "S", name: name, file: file, seconds: seconds)
    }

    @Test func `ranked lists are ordered, limited, and have only existing files`() {
        var candidates = TestCandidates(runs: 8)
        candidates.failedBefore = [test("newest"), test("older"), test("newest"), test("gone", file: "gone.py")]
        candidates.near = [
            .init(test("its own 1", file: "tests/test_own.py"), distance: 0),
            .init(test("its own 2", file: "tests/test_own.py"), distance: 0), .init(test("far"), distance: 3),
            .init(test("slow", seconds: 9), distance: 1),
            .init(test("quick", seconds: 0.5), distance: 1), .init(test("older"), distance: 0),
        ]
        candidates.failing =
            [.init(test("slow", seconds: 9), failures: 8), .init(test("rare"), failures: 1)]
            + (0..<300).map { .init(test("f\($0)", seconds: 100 + Double($0)), failures: 1) }
        candidates.newFiles = ["tests/test_new.py"]
        let history = candidates.history { $0 != "gone.py" }
        #expect(history.failedBefore.map(\.name) == ["newest", "older"])
        let own = KnownTest(suite: "S", name: "", file: "tests/test_own.py")
        let new = KnownTest(suite: "", name: "", file: "tests/test_new.py")
        #expect(history.near.prefix(2) == [new, own], "whatever is in a changed file of tests")
        #expect(history.near.dropFirst(2).map(\.name) == ["older", "quick", "slow", "far"])
        #expect(history.ranked.prefix(8).map(\.name) == ["newest", "older", "", "", "quick", "slow", "far", "rare"])
        #expect(history.ranked.count == TestHistory.limit)
    }
}
