import DaemonLog
import Engine
package import Foundation
import Logging
import Pipeline
package import Results

/// Decides which snapshot on another machine a run starts from, and which it leaves there. The machine keeps them, and
/// knows nothing of what they are good for.
package struct OtherSnapshots: Sendable {
    private let here: SnapshotWorkspaces
    /// Bytes on disk that all snapshots of a machine may take.
    package let limit: Int
    private var elsewhere: SnapshotsElsewhere { here.snapshotStore.elsewhere }

    /// - Parameter limit: 0: runs neither start from snapshots nor leave any, and those that machines have are removed.
    package init(_ here: SnapshotWorkspaces, limit: Int) { (self.here, self.limit) = (here, limit) }

    /// A snapshot that a machine told of.
    package struct Told: Sendable {
        /// By which the machine knows it.
        package var name: String
        /// What was noted when it was made, as JSON.
        package var note: Data
        /// How many layers it has, with those of the snapshots that it was built on.
        package var layers: Int
        /// The bytes on disk of all these.
        package var bytes: Int

        package init(name: String, note: Data, layers: Int, bytes: Int) {
            (self.name, self.note, self.layers, self.bytes) = (name, note, layers, bytes)
        }
    }

    /// What was decided for one run.
    package struct Choice: Sendable {
        /// The name of the snapshot that it starts from; nil: it starts fresh.
        package var name: String?
        /// What the report says about that snapshot.
        package var base: Report.Base?
        /// Why it starts fresh.
        package var cold: String?
        /// Whether the machine has one that runs with these steps may start from.
        package var isWarm = false
        /// Whether it leaves a snapshot if it passes.
        package var leaves: Bool { key != nil }
        /// The names of those that are of no use any more.
        package var unwanted: [String] = []
        fileprivate var key: SnapshotKey?
        fileprivate var below: SnapshotFacts?
        /// See ``SnapshotsElsewhere/times(_:)``.
        fileprivate var times = 0

        package init() {}

        /// Notes that the machine could not use the snapshot.
        package mutating func startFresh() { (base, below) = (nil, nil) }
    }

    /// The snapshots that may concern a run; nil if it neither starts from one nor leaves one.
    package func line(of run: PreparedRun) -> SnapshotLine? {
        guard let key = run.snapshotKey(tools: "") else { return nil }
        let mayLeave = run.isMerged && run.run.request.change == nil && run.startsForChanges
        return run.run.request.beginsFromNothing && !mayLeave ? nil : key.line
    }

    /// Chooses the snapshot with the smallest difference to the tested tree, and decides whether the run leaves one.
    ///
    /// - Parameters:
    ///   - told: The snapshots of ``line(of:)`` that the machine has.
    ///   - tools: The compiler and the packages of the machine.
    ///   - isOne: Whether it is one machine, which is worth being warmed up.
    package func choose(
        _ run: PreparedRun, among told: [Told], on machine: String, tools: String, isOne: Bool = true
    ) async -> Choice {
        var choice = Choice()
        guard let key = run.snapshotKey(tools: tools) else { return choice }
        guard limit > 0 else {
            choice.unwanted = told.map(\.name)
            return choice
        }
        choice.times = elsewhere.times(key.line)
        let (wanted, unwanted) = await sorted(told, key, run)
        let plan = run.wholePlan.snapshotDigest
        choice.unwanted = unwanted
        choice.isWarm = wanted.contains { $0.facts.serves(key, plan: plan) && $0.facts.isUsable }
        if isOne { elsewhere.note(wanted.map(\.facts), of: key.line, on: machine) }
        // Which steps are proved there is not known yet.
        choice.key = here.leaving(run, isWhole: true, key, on: machine)
        guard !run.run.request.beginsFromNothing else {
            choice.cold = ColdReason.text(run.run.request)
            return choice
        }
        let candidates = wanted.filter { choice.key == nil || !isFull($0.told) }.map { ($0, $0.facts) }
        if let best = await candidates.nearest(key, plan: plan, run.difference) {
            let facts = best.snapshot.facts
            (choice.name, choice.below) = (best.snapshot.told.name, facts)
            choice.base = Report.Base(run: facts.run, commit: facts.commit, changedFiles: best.difference)
        } else {
            choice.cold = ColdReason.text(wanted.map(\.facts), for: key, plan: plan, on: machine)
        }
        if isOne, let change = run.run.request.change, choice.below?.commit != change.targetCommit {
            here.missed(MissedSnapshot(key: key, commit: change.targetCommit, machine: machine))
        }
        return choice
    }

    /// What is to be noted of the snapshot that a passed run leaves; nil if it leaves none.
    ///
    /// - Parameter steps: What its steps came to: where proofs stood for steps, their products are missing.
    package func note(_ run: PreparedRun, _ choice: Choice, _ steps: [StepRecord], on machine: String) -> Data? {
        let proved = Set(steps.filter { $0.provedBy != nil }.map(\.name))
        let isWhole = run.plan.steps.allSatisfy { !proved.contains($0.name) || $0.leavesNothing }
        guard let key = choice.key, here.leaving(run, isWhole: isWhole, key, on: machine) != nil,
            // It may lie on a wrong one.
            elsewhere.times(key.line) == choice.times
        else { return nil }
        return try? JSONEncoder().encode(run.facts(key, over: choice.below))
    }

    /// Notes that a machine has kept the snapshot of a run, or why not.
    package func noteKept(_ note: Data, of run: RunID, on machine: String, _ result: Result<Int, any Error>) {
        do {
            let bytes = try result.get()
            if let facts = Self.facts(note) { elsewhere.note(facts, on: machine) }
            here.log.debug(
                "run \(run) left a warm workspace of \(bytes >> 20) MiB on \(machine)",
                metadata: .code(.snapshotTaken, run: run))
        } catch {
            here.log.notice(
                "run \(run) left no warm workspace on \(machine); the next runs there start from an older or a fresh one: \(error)",
                metadata: .code(.snapshotFailed, run: run))
        }
    }

    private struct Wanted {
        var told: Told
        var facts: SnapshotFacts
    }

    /// Those that runs may start from, newest first, and the names of all others: wrong ones, those of commits that left
    /// the branch, and what can't be read.
    private func sorted(_ told: [Told], _ key: SnapshotKey, _ run: PreparedRun) async -> ([Wanted], [String]) {
        var wanted: [Wanted] = []
        for one in told {
            guard let facts = Self.facts(one.note), facts.key.line == key.line,
                !elsewhere.isWrong(key.line, facts.run)
            else { continue }
            wanted.append(Wanted(told: one, facts: facts))
        }
        if let abandoned = await here.abandoned(key, among: wanted.map(\.facts), run.repository) {
            wanted.removeAll { abandoned.contains($0.facts.commit) }
        }
        wanted.sort { $0.facts.createdAt > $1.facts.createdAt }
        let names = Set(wanted.map(\.told.name))
        return (wanted, told.map(\.name).filter { !names.contains($0) })
    }

    private func isFull(_ told: Told) -> Bool {
        told.layers >= SnapshotStore.deepest || told.layers > 2 && told.bytes > limit / 2
    }

    private static func facts(_ note: Data) -> SnapshotFacts? {
        guard let facts = try? JSONDecoder().decode(SnapshotFacts.self, from: note) else { return nil }
        // The machine may have changed it.
        let times = [facts.cleanAt, facts.createdAt].map(\.timeIntervalSince1970)
        return times.allSatisfy { $0 >= 0 && $0 < 1e11 } && facts.cleanAt <= facts.createdAt ? facts : nil
    }
}
