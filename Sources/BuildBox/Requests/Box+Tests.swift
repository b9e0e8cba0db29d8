import Archive
import Engine

/// Questions about tests across runs.
extension Box {
    /// The appearances of the one test that is meant.
    func history(of text: String, _ filter: TestFilter) async throws -> [TestAppearance] {
        let names = try await index.testNames(matching: text, limit: 20)
        let ids = names.map { $0.suite.isEmpty ? $0.name : "\($0.suite)/\($0.name)" }
        guard let first = ids.first else {
            throw BoxError(
                .unknownTest, "no test has \"\(text)\" in its name; `pipectl report RUN` lists the tests of a run")
        }
        // Where a slash may be part of a suite or of a name, two tests can be written alike.
        guard ids.allSatisfy({ $0 == first }) else {
            let list = ids.prefix(10).map { "  \($0)" }.joined(separator: "\n")
            throw BoxError(
                .unknownTest,
                "\"\(text)\" is in the names of \(ids.count)\(ids.count == 20 ? " or more" : "") tests; "
                    + "name one of them:\n\(list)")
        }
        var found: [TestAppearance] = []
        for (suite, name) in names { found += try await index.testHistory(suite: suite, name: name, filter) }
        return names.count == 1 ? found : Array(found.sorted { $0.run > $1.run }.prefix(filter.limit))
    }

    func compare(_ run: RunID, with other: RunID) async throws -> Comparison {
        for id in [run, other] where try await index.run(id) == nil {
            throw BoxError(.unknownRun, "there is no run \(id); `pipectl runs` lists the newest")
        }
        let target = try await index.run(other)
        return Comparison.between(
            try await index.tests(of: run), and: try await index.tests(of: other), targetRun: other,
            targetCommit: target?.summary.testedCommit ?? target?.summary.head ?? "")
    }
}
