import Store
import Results
import TestSupport
import Testing

/// A test is flaky if and only if it has different results on the same tree.
@Suite struct FlakyTestTests {
    private static func result(_ name: String, _ status: TestResult.Status, attempt: Int = 1) -> TestResult {
        TestResult(
            suite: "Unit", name: name, status: status, message: status.isFailure ? "was \(name)" : nil, attempt: attempt
        )
    }

    /// A run of this tree with these results.
    private static func add(
        _ index: Store.Index, tree: String?, _ tests: [TestResult], repository: String = "alpha", head: Int
    ) async throws {
        let request = Sample.request(repository, change: "\(head)", head: head)
        let id = try await index.enqueue(request).run.id
        try await index.markRunning(id)
        var report = Sample.report(id, request, verdict: .failed, tests: tests)
        report.testedTree = tree
        report.testedCommit = Sample.commit(head)
        try await index.finish(report, tests: tests, archivedBytes: 1)
    }

    @Test func `a test that failed and passed on one tree is flaky`() async throws {
        let index = try await Index.watching()
        // Run 1 and 2 test the same tree, 3 another one.
        try await Self.add(
            index, tree: "tree one",
            [Self.result("across", .failed), Self.result("broken", .failed), Self.result("sound", .passed)], head: 1)
        try await Self.add(
            index, tree: "tree one",
            [Self.result("across", .passed), Self.result("broken", .errored), Self.result("sound", .passed)], head: 2)
        try await Self.add(
            index, tree: "tree two",
            [
                Self.result("within", .failed), Self.result("within", .passed, attempt: 2),
                // It passed on the other tree only: the code may be why.
                Self.result("sound", .failed), Self.result("across", .passed),
            ], head: 3)
        let flaky = try await index.flakyTests(TestFilter())
        #expect(flaky.map(\.name) == ["within", "across"], "the higher rate first")
        #expect(flaky.map(\.flips) == [1, 1])
        #expect(flaky.map(\.runs) == [1, 3])
        #expect(flaky.map(\.lastRun) == [3, 1])
        #expect(flaky.map(\.lastMessage) == ["was within", "was across"])
        #expect(flaky.map(\.plot) == [nil, nil], "nobody asked for one")
        let plotted = try await index.flakyTests(TestFilter(), plotted: 1)
        #expect(plotted.map(\.plot) == ["▄", nil], "of the worst")
        let both = try await index.flakyTests(TestFilter(), plotted: 9)
        #expect(both.map(\.plot) == ["▄", "█▁▁"], "the oldest run first")
        let newest = try await index.flakyTests(TestFilter(limit: 2))
        #expect(newest.map(\.name) == ["within"], "the failure of the other is not among the newest two runs")
        // In which runs it was is asked in two ways.
        for filter in [TestFilter(limit: 3), TestFilter(workflow: "test", limit: 3)] {
            #expect(try await index.flakyTests(filter).map(\.runs) == [1, 3])
        }
    }

    @Test func `only runs of the window and the repository count`() async throws {
        let index = try await Index.watching()
        for (head, repository) in [(1, "alpha"), (2, "alpha"), (3, "beta"), (4, "beta"), (5, "alpha")] {
            try await Self.add(
                index, tree: "tree \(head)", [Self.result("one", .passed)], repository: repository, head: head)
        }
        try await Self.add(
            index, tree: "tree", [Self.result("one", .failed), Self.result("one", .passed, attempt: 2)], head: 6)
        for workflow in [nil, "test"] {
            #expect(try await index.flakyTests(TestFilter(workflow: workflow)).map(\.runs) == [4], "those of alpha")
            #expect(try await index.flakyTests(TestFilter(workflow: workflow, limit: 4)).map(\.runs) == [2], "5 and 6")
            let alpha = TestFilter(repository: "alpha", workflow: workflow, limit: 2)
            #expect(try await index.flakyTests(alpha).map(\.runs) == [2])
        }
    }

    @Test func `repositories are separate, and old runs count by their commit`() async throws {
        let index = try await Index.watching()
        try await Self.add(index, tree: "tree", [Self.result("same", .failed)], head: 1)
        try await Self.add(index, tree: "tree", [Self.result("same", .passed)], repository: "beta", head: 2)
        #expect(try await index.flakyTests(TestFilter()).isEmpty)
        try await Self.add(
            index, tree: nil, [Self.result("old", .failed), Self.result("old", .passed, attempt: 2)],
            repository: "beta", head: 3)
        #expect(try await index.flakyTests(TestFilter(repository: "beta")).map(\.name) == ["old"])
        #expect(try await index.flakyTests(TestFilter(repository: "alpha")).isEmpty)
        #expect(try await index.flakyTests(TestFilter(workflow: "test")).map(\.name) == ["old"])
        #expect(try await index.flakyTests(TestFilter(workflow: "other")).isEmpty)
    }
}
