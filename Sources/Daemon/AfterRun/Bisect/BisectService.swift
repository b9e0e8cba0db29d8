import DaemonLog
import Watching
import Running
import Evaluating
import Control
import Archive
import Store
import Results
import TerminalText
import Foundation
import Git
import Logging
import Pipeline

/// Finds the commits that broke tests: on request, and when a branch turns red.
struct BisectService: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let repositories: KnownRepositories
    let tests: TestQueries
    let queue: RunQueue
    let log: Logger

    /// Searches for the commit that broke a test, and stores the answer for later reports.
    @discardableResult
    func bisect(
        _ request: BisectRequest, _ reply: @escaping @Sendable (BisectProgress) async throws -> Void
    ) async throws -> BisectProgress {
        let session = try await session(request) { try await reply(.note($0)) }
        let outcome = try await session.search()
        if case .found(let answer) = outcome { try await index.keep(answer) }
        try await reply(outcome)
        return outcome
    }

    private func session(
        _ request: BisectRequest, say: @escaping @Sendable (String) async throws -> Void
    ) async throws -> BisectSession {
        let repository = try await repositories.repository(
            named: repositories.name(of: request.repository))
        let appearances = try await tests.history(
            of: request.test,
            TestFilter(repository: repository.name, workflow: request.workflow, limit: 50))
        guard let newest = appearances.first else {
            throw RequestError(
                .unknownTest,
                "no run of \(request.workflow.map { "workflow \"\($0)\"" } ?? "any workflow") of \(repository.name) ran "
                    + "\"\(request.test)\"; `pipectl history` shows where it ran")
        }
        let target = try await repositories.rules(for: repository).target
        let (branch, line) = try await withRepository(at: repository.gitDirectory) {
            try Self.line(request, in: $0, target: target)
        }
        let test = (suite: newest.result.suite, name: newest.result.name)
        let workflow = request.workflow ?? newest.workflow
        return BisectSession(
            request: request,
            scope: BisectScope(
                repository: repository, workflow: workflow, branch: branch, test: test,
                step: await step(of: newest.result.id, in: appearances)),
            line: line,
            sights: try await index.sights(
                suite: test.suite, name: test.name, repository: repository.name, workflow: workflow),
            index: index, store: store, run: { try await queue.runToEnd($0, cancelReason: "the bisection was ended") },
            say: say)
    }

    /// The commits from good to bad, both included, in the order in which they landed.
    private static func line(
        _ request: BisectRequest, in git: Repository, target: TargetRule
    ) throws -> (branch: String, line: [Commit]) {
        let snapshot = try git.snapshot()
        guard
            let branch = request.branch ?? target.branch(in: snapshot.refs)?.name,
            let tip = snapshot.refs["refs/heads/\(branch)"]
        else {
            throw RequestError(
                .usage,
                request.branch.map { "there is no branch \"\($0)\"; name one that exists with --branch" }
                    ?? "the target branch is not known; name one with --branch")
        }
        let bad = try request.bad.map { try git.resolve($0) } ?? tip
        guard try git.isAncestor(bad, of: tip) else {
            throw RequestError(
                .usage, "\(request.bad ?? "") is not in \(branch); name the branch that has it with --branch")
        }
        guard let named = request.good else {
            return (branch, try git.log(from: bad, limit: BisectSession.longest, firstParent: true))
        }
        let good = try git.resolve(named)
        guard good != bad, try git.isAncestor(good, of: bad) else {
            throw RequestError(
                .usage, "\(named) is not before \(request.bad ?? branch); --good takes a commit from before")
        }
        let since = try git.log(from: bad, excluding: [good], limit: BisectSession.longest, firstParent: true)
        return (branch, since + [try git.commit(good)])
    }

    /// The step that ran the test last.
    private func step(of test: String, in appearances: [TestAppearance]) async -> String? {
        for run in appearances.prefix(5).map(\.run) {
            guard let report = try? await store.report(run), let tests = try? await store.tests(run) else { continue }
            let step = report.steps.first { step in step.tests?.of(tests).contains { $0.id == test } ?? false }
            if let step { return step.name }
        }
        return nil
    }

    // MARK: Of its own accord

    /// Bisects failures of branches one after the other, if their workflows want that.
    func run(_ redTests: AsyncStream<BisectRequest>) async {
        for await request in redTests {
            if Task.isCancelled { return }
            do {
                log.info(
                    "\(request.repository): bisecting \(TerminalText.name(request.test))",
                    metadata: .code(.bisecting, repository: request.repository))
                let outcome = try await bisect(request) { [log] progress in
                    if case .note(let text) = progress {
                        log.debug(
                            "bisect: \(TerminalText.name(text, limit: 500))",
                            metadata: .code(.bisecting, repository: request.repository))
                    }
                }
                switch outcome {
                case .found(let answer):
                    log.notice(
                        "\(request.repository): \(TerminalText.name(answer.inWords, limit: 1_000))",
                        metadata: .code(.bisected, repository: request.repository))
                case .nothing(let why):
                    log.info(
                        "\(request.repository): \(TerminalText.name(why, limit: 1_000))",
                        metadata: .code(.bisected, repository: request.repository))
                case .note: break
                }
            } catch {
                log.warning(
                    "\(request.repository): bisecting \(TerminalText.name(request.test)) failed: \(error)",
                    metadata: .code(.bisectFailed, repository: request.repository))
            }
        }
    }
}
