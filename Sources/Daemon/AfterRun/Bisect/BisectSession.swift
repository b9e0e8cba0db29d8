import Watching
import Control
import Store
import Results
import TerminalText
import Archive
import Foundation
import Git
import Pipeline

/// Where a broken test is searched.
struct BisectScope: Sendable {
    let repository: WatchedRepository
    let workflow: String
    let branch: String
    let test: (suite: String, name: String)
    /// The step that runs the test; nil to run the whole workflow.
    let step: String?

    /// The test as people name it.
    var testID: String { test.suite.isEmpty ? test.name : "\(test.suite)/\(test.name)" }

    /// A run of the test at one commit.
    ///
    /// - Parameter nonce: What distinguishes it from the other runs of the search.
    func request(at commit: Commit, nonce: String) -> RunRequest {
        RunRequest(
            repository: repository.name, workflow: workflow, event: .push, ref: "refs/heads/\(branch)", branch: branch,
            head: commit.id.hex, definitionCommit: commit.id.hex, onlySteps: step.map { [$0] }, kind: .bisect,
            nonce: "bisect \(nonce) \(Date().timeIntervalSince1970)-\(UInt32.random(in: 0 ... .max))",
            subject: "bisect of \(branch)", concurrency: .queue(max: 1_000))
    }
}

/// One search for the commit that broke a test, with results of the archive and runs for missing ones.
struct BisectSession: Sendable {
    let request: BisectRequest
    let scope: BisectScope
    /// Newest first.
    let line: [Commit]
    let sights: [Store.Index.TestSight]
    let index: Store.Index
    let store: ArchiveStore
    /// Runs a commit and waits for its end.
    let run: @Sendable (RunRequest) async throws -> RunID
    let say: @Sendable (String) async throws -> Void

    private struct Known {
        var standing: Bisection.Standing
        var run: RunID?
    }

    /// The most commits that are searched.
    static let longest = 5_000

    func search() async throws -> BisectProgress {
        var bisection = Bisection(count: line.count)
        var known: [Int: Known] = [:]
        var (fromArchive, runs) = (0, 0)
        func note(_ one: Known, at place: Int) {
            known[place] = one
            bisection.note(one.standing, at: place)
        }
        for place in line.indices {
            if let one = archived(line[place]) {
                note(one, at: place)
                fromArchive += 1
            }
        }
        if let good = request.good, let last = line.indices.last {
            // The person's statement counts if the archive has no result.
            if known[last] == nil { note(Known(standing: .good), at: last) }
            try await say("good: \(good) at \(words(last)); \(line.count - 1) commits since")
        }
        if request.bad != nil, known[0] == nil { note(Known(standing: .bad), at: 0) }
        while true {
            try Task.checkCancellation()
            switch bisection.next {
            case .test(let place):
                if let one = try await passedWithout(line[place]) {
                    note(one, at: place)
                    fromArchive += 1
                    continue
                }
                let one = try await tried(place, nonce: "try")
                runs += 1
                note(one, at: place)
                try await say("\(words(place)): \(outcome(one))")
            case .nothing: return .nothing("\(id) passes at \(words(0)): there is no failure to bisect")
            case .unknown(let why):
                return .nothing("\(words(0)) can't be tested: \(why); name another commit with --bad")
            case .always(let oldest):
                return .nothing(
                    "\(id) fails in every commit that could be tested, back to \(words(oldest)); name a commit where it "
                        + "passes with --good")
            case .found(let bad, let good, let suspects):
                var answer = BisectAnswer(
                    test: id, repository: scope.repository.name, workflow: scope.workflow, branch: scope.branch,
                    broken: try await described(bad, known[bad]), good: try await described(good, known[good]),
                    suspects: [], fromArchive: fromArchive, runs: runs, at: Date())
                for place in suspects { answer.suspects.append(try await described(place, known[place])) }
                if request.verifies {
                    try await say("confirming: running \(words(bad)) and \(words(good)) again")
                    let again = try await (tried(bad, nonce: "check"), tried(good, nonce: "check"))
                    answer.runs += 2
                    answer.isVerified = again.0.standing == .bad && again.1.standing == .good
                }
                return .found(answer)
            }
        }
    }

    private var id: String { scope.testID }

    private func words(_ place: Int) -> String { "\(line[place].id.hex.prefix(10)) \"\(line[place].summary)\"" }

    private func outcome(_ one: Known) -> String {
        let run = one.run.map { " in run \($0)" } ?? ""
        switch one.standing {
        case .good: return "it passes\(run)"
        case .bad: return "it fails\(run)"
        case .untestable(let why): return "can't be tested\(run): \(why)"
        }
    }

    // MARK: Results of the archive

    /// The newest run of exactly the same files that had the test.
    private func archived(_ commit: Commit) -> Known? {
        let sight = sights.first { $0.testedCommit == commit.id.hex || $0.testedTree == commit.tree.hex }
        return sight.map { Known(standing: $0.hasPassed ? .good : .bad, run: $0.run) }
    }

    /// A run that passed without the test did not fail there.
    private func passedWithout(_ commit: Commit) async throws -> Known? {
        let found = try await index.latestRun(
            repository: scope.repository.name, workflow: scope.workflow, on: .commit(commit.id.hex))
        guard let found, found.verdict == .passed, found.testCounts.total > 0 else { return nil }
        let report = try? await store.report(found.id)
        guard let report, scope.step.map(report.hasPassed) ?? true else { return nil }
        return Known(standing: .good, run: found.id)
    }

    // MARK: Runs

    private func tried(_ place: Int, nonce: String) async throws -> Known {
        let id = try await run(scope.request(at: line[place], nonce: nonce))
        let report = try await store.report(id)
        let tests = try await store.tests(id).filter { $0.suite == scope.test.suite && $0.name == scope.test.name }
        if let last = tests.max(by: { $0.attempt < $1.attempt }), last.status != .skipped {
            return Known(standing: last.status.isFailure ? .bad : .good, run: id)
        }
        let ran = scope.step.map(report.hasPassed)
        if ran ?? (report.verdict == .passed && !report.steps.isEmpty) {
            // Everything passed; the test did not exist yet, or was skipped.
            return Known(standing: .good, run: id)
        }
        return Known(standing: .untestable(TerminalText.name(report.reason, limit: 300)), run: id)
    }

    // MARK: The change behind the commit

    private func described(_ place: Int, _ known: Known?) async throws -> BisectAnswer.Commit {
        let commit = line[place]
        var described = BisectAnswer.Commit(
            id: commit.id.hex, title: commit.summary, author: commit.author.name, run: known?.run)
        if case .untestable(let why) = known?.standing { described.reason = why }
        if let change = try await landed(with: place) {
            described.change = change.name
            described.changeTitle = change.title.isEmpty ? nil : change.title
        }
        return described
    }

    /// The change whose landing ended at this commit, or passed over it if it landed as a series of commits.
    private func landed(with place: Int) async throws -> ChangeRecord? {
        let changes = try await index.changes(of: scope.repository.name, states: [.landed])
        let byCommit = Dictionary(changes.compactMap { change in change.landedCommit.map { ($0, change) } }) { $1 }
        if let change = byCommit[line[place].id.hex] { return change }
        // Younger commits come first in the list.
        for younger in line[..<place].reversed() {
            guard let change = byCommit[younger.id.hex] else { continue }
            return [.rebase, .fastForward].contains(change.recognition) ? change : nil
        }
        return nil
    }
}

extension Report {
    fileprivate func hasPassed(_ step: String) -> Bool { steps.contains { $0.name == step && $0.status == .passed } }
}
