import Workspaces
import StateFiles
import Archive
import Store
import Results
import TerminalText
import Foundation
import Git
import Logging
import Pipeline

/// What follows from the end of a run for the mending of one: decided anew each time from what is recorded, so that it may
/// be done twice, and a crash in the middle loses nothing.
extension Box {
    /// Does all that is due.
    func settleFixes() async {
        // A second caller finds the rest done by the first one, which looks again.
        fixesAreDue = true
        guard !isSettlingFixes else { return }
        isSettlingFixes = true
        defer { isSettlingFixes = false }
        while fixesAreDue {
            fixesAreDue = false
            do {
                for id in try await index.dueFixes() {
                    guard let run = try await index.run(id), run.summary.isArchived else { continue }
                    let failed = run.request.fix?.of ?? id
                    guard await scheduler.isMine(failed) else { continue }
                    try await advanceFix(of: failed)
                    try await index.fixDone(id)
                }
                clearTrouble("a fix can't continue")
            } catch is CancellationError {
                // It stays due for the next process.
                return
            } catch {
                noteTrouble("a fix can't continue", error)
            }
        }
    }

    /// Brings the mending of one run a step further.
    func advanceFix(of id: RunID) async throws {
        guard let failed = try await index.run(id), failed.summary.isArchived else { return }
        let report = try await store.report(id)
        let sequence = FixSequence(run: id, parts: try await fixParts(of: id))
        let last = sequence.parts.last?.role
        var series =
            report.fixes
            ?? FixSeries(
                state: .working, reason: "", wanted: last.map { $0.last - $0.attempt + 1 } ?? 0,
                mayPush: last?.mayPush ?? false)
        let first =
            series.state == .working && series.wanted > 0
            ? FixRole(of: id, attempt: 1, last: series.wanted, mayPush: series.mayPush) : nil
        if first == nil, sequence.parts.isEmpty { return }
        var next = sequence.next(first: first)
        if case .end = next {
        } else if next != .wait, let why = try await whyOutdated(failed) {
            next = .end(.stopped, reason: why)
        }
        switch next {
        case .wait: break
        case .make(let role): try await begin(.fixing(failed.request, role))
        case .check(let role, let commit): try await begin(.checking(failed.request, role, commit: commit))
        case .end(let state, let reason):
            (series.state, series.reason) = (state, reason)
            if state == .offered { try await offer(&series, sequence, failed) }
        }
        let now = FixSequence(run: id, parts: try await fixParts(of: id))
        series.attempts = now.attempts
        if case .end = next {
        } else if let role = now.parts.last?.role {
            let what = role.isMaking ? "made" : "checked"
            series.state = .working
            series.reason = "attempt \(role.attempt) of \(role.last) is being \(what)"
        }
        guard series != report.fixes else { return }
        try await store.amend(id, fixes: series, in: index)
        log.notice("run \(id): fix \(series.state.title): \(TerminalText.name(series.reason, limit: 500))")
        board.wake(id)
    }

    func begin(_ request: RunRequest) async throws {
        let accepted = try await accept(request)
        if await scheduler.isRestricted { await startOnly([accepted.run.id]) }
        scheduler.wakeUp()
    }

    func fixParts(of id: RunID) async throws -> [FixSequence.Part] {
        try await FixSequence.parts(of: id, index, store)
    }

    /// Why nobody wants this commit mended any more, nil if somebody does.
    func whyOutdated(_ failed: IndexedRun) async throws -> String? {
        guard let change = failed.request.change,
            let record = try await index.change(change.name, of: failed.request.repository)
        else { return nil }
        if record.state == .landed || record.state == .closed { return "the change is \(record.state.rawValue)" }
        return record.head == failed.request.head ? nil : "the change is at \(record.head.prefix(10)) now"
    }

    /// Pushes a fix that passed, where the target's definition says so.
    private func offer(_ series: inout FixSeries, _ sequence: FixSequence, _ failed: IndexedRun) async throws {
        guard let check = sequence.parts.last, let change = failed.request.change,
            let commit = sequence.parts.last(where: { $0.run == check.role.maker })?.record?.commit,
            check.role.mayPush
        else { return }
        let reason = series.reason
        func kept(_ why: String) { series.reason = "\(reason); not pushed: \(why)" }
        guard check.verdict == .passed else { return kept("only fixes that pass without flaky tests are pushed") }
        if let why = try await whyOutdated(failed) { return kept(why) }
        let repository = try await repository(named: failed.request.repository)
        let push = FixPush(
            repository: repository, ref: failed.request.ref, head: failed.request.head, target: change.target,
            commit: commit)
        switch try await push.push() {
        case .pushed(let branch):
            series.state = .pushed
            series.reason = "\(reason); pushed to \(branch)"
            watchers[repository.name]?.wakeUp()
        case .kept(let why): kept(why)
        }
    }

    // MARK: Upkeep

    /// Removes the refs of fixes whose runs have left the archive; what they kept is Git's to remove then.
    func sweepFixes() async {
        do {
            for location in try await index.repositories().keys.sorted() {
                let store = "\(state.mirrors)/\(location).merges.git"
                guard FileManager.default.fileExists(atPath: "\(store)/HEAD") else { continue }
                let names = try await withRepository(at: store) {
                    try $0.snapshot(under: FixCommit.refs).refs.map(\.key)
                }
                for name in names {
                    guard let last = name.split(separator: "/").last, let run = RunID(last.prefix { $0 != "-" }),
                        try await index.run(run) == nil
                    else { continue }
                    try await withRepository(at: store) { try $0.deleteRef(name) }
                }
            }
        } catch is CancellationError {
            return
        } catch {
            log.warning("the refs of old fixes can't be removed: \(error)")
        }
    }
}
