package import Watching
import Control
package import Store
package import Archive
package import Results
package import Pipeline

/// Queries about tests across runs.
package struct TestQueries: Sendable {
    package let index: Store.Index
    package let store: ArchiveStore
    package let repositories: KnownRepositories

    package init(index: Store.Index, store: ArchiveStore, repositories: KnownRepositories) {
        self.index = index
        self.store = store
        self.repositories = repositories
    }

    /// The appearances of the one test that the text means.
    package func history(of text: String, _ filter: TestFilter) async throws -> [TestAppearance] {
        let names = try await index.testNames(matching: text, limit: 20)
        let ids = names.map { $0.suite.isEmpty ? $0.name : "\($0.suite)/\($0.name)" }
        guard let first = ids.first else {
            throw RequestError(
                .unknownTest, "no test has \"\(text)\" in its name; `pipectl report RUN` lists the tests of a run")
        }
        // If a slash may be part of a suite or of a name, two tests can have the same id.
        guard ids.allSatisfy({ $0 == first }) else {
            let list = ids.prefix(10).map { "  \($0)" }.joined(separator: "\n")
            throw RequestError(
                .unknownTest,
                "\"\(text)\" is in the names of \(ids.count)\(ids.count == 20 ? " or more" : "") tests; "
                    + "name one:\n\(list)")
        }
        var found: [TestAppearance] = []
        for (suite, name) in names { found += try await index.testHistory(suite: suite, name: name, filter) }
        return names.count == 1 ? found : Array(found.sorted { $0.run > $1.run }.prefix(filter.limit))
    }

    /// Compares a run with another one; nil for the best run of its target.
    package func compare(_ id: RunID, with other: RunID?) async throws -> Comparison {
        func summary(_ id: RunID) async throws -> RunSummary {
            guard let run = try await index.run(id) else {
                throw RequestError.unknownRun(id)
            }
            return run.summary
        }
        guard try await summary(id).isArchived else {
            throw RequestError(.usage, "run \(id) has not ended; `pipectl wait \(id)` waits for it")
        }
        let report = try await store.report(id)
        let comparing = await comparing(report)
        let found: RunSummary
        if let other {
            found = try await summary(other)
        } else if let target = try await comparing.target(of: report) {
            found = target.run
        } else if report.change == nil {
            throw RequestError(
                .usage, "run \(id) does not belong to a change, so it has no target; name the run to compare it with")
        } else {
            throw RequestError(
                .unknownRun,
                "the archive has no run of the target of run \(id); `pipectl run \(report.workflow) --ref "
                    + "\(report.change?.targetCommit.prefix(12) ?? "")` creates one")
        }
        return try await comparing.comparison(of: report, index.tests(of: id), with: found)
    }

    package func comparing(_ report: Report) async -> TargetComparison {
        var objects = try? await repositories.repository(named: report.repository).store
        if let request = try? await index.run(report.id)?.request, request.source != nil {
            objects = try? await repositories.repository(of: request).store
        }
        return TargetComparison(index: index, reports: store, objects: objects)
    }

    /// The tests that these names, or parts of names, mean.
    ///
    /// A text that matches no earlier test stays as it is, and the tool searches for it.
    package func known(named texts: [String], in repository: String) async throws -> [KnownTest] {
        var found: [KnownTest] = []
        for text in texts.prefix(200) where !text.isEmpty {
            var exact = try await known(exactly: text, in: repository)
            if exact.isEmpty { exact = try await known(exactly: text + "()", in: repository) }
            if exact.isEmpty {
                let parts = try await index.testNames(matching: text, limit: 200).filter {
                    Quarantine(test: text, until: "", reason: "").covers("\($0.suite)/\($0.name)")
                }
                if parts.count == 1 {
                    exact = try await known(exactly: "\(parts[0].suite)/\(parts[0].name)", in: repository)
                }
            }
            found += exact.isEmpty ? [KnownTest(suite: "", name: text)] : exact
        }
        return found
    }

    /// Tests with exactly this name in runs of the repository.
    private func known(exactly text: String, in repository: String) async throws -> [KnownTest] {
        var found: [KnownTest] = []
        for (suite, name) in try await index.testNames(matching: text, limit: 20)
        where text == (suite.isEmpty ? name : "\(suite)/\(name)") {
            let filter = TestFilter(repository: repository, limit: 1)
            guard let last = try await index.testHistory(suite: suite, name: name, filter).first else { continue }
            found.append(KnownTest(suite: suite, name: name, file: last.result.file))
        }
        return found
    }
}
