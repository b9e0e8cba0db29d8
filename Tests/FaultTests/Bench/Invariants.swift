import TestBasics
import Results
import Foundation
import GRDB
import TestSupport

/// The invariants of a state folder after every accepted run has ended, whatever died before.
struct Invariants {
    let bench: Bench
    /// Heads for which exactly one run of a workflow must exist: `test 1a2b…`.
    var expected: Set<String> = []
    /// Heads for which one run may exist: an observation may have missed them.
    var possible: Set<String> = []
    /// Numbers of runs that pipectl has reported.
    var accepted: Set<Int64> = []
    /// Words among the arguments of steps.
    var marker: Marker?
    /// Whether a release may end before its step has started, for a reason that needs no person.
    var releaseMayNotBegin = false

    struct Found {
        var runs: [RunSummary] = []
        var lost: [String] = []
        var doubled: [String] = []
        var unfinished: [String] = []
        var processes: [Int32] = []
        var damage: [String] = []
        var leftovers: [String] = []

        var isClean: Bool { problems.isEmpty }
        var problems: [String] {
            lost.map { "lost: \($0)" } + doubled.map { "doubled: \($0)" } + unfinished.map { "no verdict: \($0)" }
                + processes.map { "process \($0) is left" } + damage.map { "damaged: \($0)" }
                + leftovers.map { "left over: \($0)" }
        }
    }

    /// Checks everything. No pipectl may be running.
    func check() async throws -> Found {
        var found = Found()
        found.runs = try await bench.runs()
        let ids = Set(found.runs.map(\.id))
        found.lost += accepted.subtracting(ids).sorted().map { "run \($0), which was told" }
        let byHead = Dictionary(grouping: found.runs.filter { $0.rerunOf == nil }) { "\($0.workflow) \($0.head)" }
        found.lost += expected.subtracting(byHead.keys).sorted()
        for (head, runs) in byHead where runs.count > 1 { found.doubled.append("\(head): runs \(runs.map(\.id))") }
        if !expected.isEmpty {
            found.doubled += Set(byHead.keys).subtracting(expected).subtracting(possible).map { "unwanted: \($0)" }
        }
        for run in found.runs where run.state != .ended || run.verdict == nil {
            found.unfinished.append("run \(run.id) is \(run.state)")
        }
        for run in found.runs where run.verdict == .passed && run.attempt < 1 {
            found.unfinished.append("run \(run.id) passed and was never started")
        }
        try await reports(ids, &found)
        effects(&found)
        found.processes = marker?.processes ?? []
        try database(&found)
        for folder in ["workspaces", "live"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)")) ?? []
            found.leftovers += names.map { "\(folder)/\($0)" }
        }
        return found
    }

    /// Each run must have exactly one report, and `archive verify` must find nothing.
    private func reports(_ ids: Set<Int64>, _ found: inout Found) async throws {
        let names = try await bench.git(
            ["for-each-ref", "--format=%(refname)", "refs/runs"], in: "\(bench.home)/archive.git")
        let reported = names.split(separator: "\n").compactMap { Int64($0.dropFirst("refs/runs/".count)) }
        found.lost += ids.subtracting(reported).sorted().map { "the report of run \($0)" }
        found.doubled += Set(reported).subtracting(ids).sorted().map { "a report of run \($0), which is unknown" }
        let verified = try await bench.pipectl("archive", "verify")
        if verified.code != 0 { found.damage.append("archive verify: \(verified.output)\(verified.errors)") }
        let checked = try await bench.command(["git", "-C", "\(bench.home)/archive.git", "fsck", "--no-progress"])
        if checked.code != 0 { found.damage.append("git fsck: \(checked.output)\(checked.errors)") }
    }

    /// A step with effects outside ran at most once, and exactly once if its run passed.
    private func effects(_ found: inout Found) {
        let counts = Dictionary(bench.effects.map { ($0, 1) }, uniquingKeysWith: +)
        for (name, count) in counts where count > 1 { found.doubled.append("effect \(name), \(count) times") }
        for run in found.runs where run.workflow == "release" && run.verdict == .passed {
            if counts["release-\(run.id)"] == nil { found.lost.append("the effect of run \(run.id), which passed") }
        }
        for run in found.runs where run.workflow == "release" && run.verdict == .infrastructure {
            // The second text belongs to releases without a started step, during which the daemon still died each time.
            let isClear = ["by hand", "it is not started again automatically"].contains {
                run.reason?.contains($0) == true
            }
            let mayBe = releaseMayNotBegin && counts["release-\(run.id)"] == nil
            if !isClear && !mayBe {
                found.unfinished.append("run \(run.id) does not say who must look: \(run.reason ?? "")")
            }
        }
    }

    private func database(_ found: inout Found) throws {
        let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
        let findings = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        if findings != ["ok"] { found.damage += findings }
        try queue.close()
    }
}
