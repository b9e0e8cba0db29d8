package import Results
import Engine
import Foundation
import Pipeline
import Sandbox

/// Why a run starts in a fresh workspace, for its report.
enum ColdReason {
    /// Why no snapshot can be used: what is different in the newest one of the same workflow and branch.
    ///
    /// - Parameters:
    ///   - snapshots: All snapshots of the machine, newest first.
    ///   - machine: The machine's name; nil for the daemon's.
    static func text(
        _ snapshots: [SnapshotFacts], for key: SnapshotKey, plan: String?, on machine: String? = nil
    ) -> String {
        guard let snapshot = snapshots.first(where: { $0.key.isOfSameLine(as: key) }) else {
            return "there is no warm workspace of \(key.branch) \(machine.map { "on \($0) " } ?? "")yet"
        }
        if snapshot.key.tools != key.tools {
            return "the compiler or installed packages changed since run \(snapshot.run)"
        }
        if !snapshot.serves(key, plan: plan) { return "workflows/ changed since run \(snapshot.run)" }
        if snapshot.createdAt > Date() { return "the clock was set back since run \(snapshot.run)" }
        return "the warm workspace of run \(snapshot.run) reached its limit of layers or size"
    }

    /// Why a run asks for no snapshot at all.
    static func text(_ request: RunRequest) -> String {
        if request.runsAtMostOnce || request.event == .tag { return "releases always start fresh" }
        if request.background == .cleanBuild { return "this clean build is compared with warm runs" }
        if request.options.isClean { return "--clean was given" }
        return "its parameters may change the build"
    }
}

extension Plan {
    /// A digest of everything that the steps do: two definitions with the same digest build the same.
    ///
    /// Nil if a step is Swift code of `workflows/`, because the plan has only its name.
    var snapshotDigest: String? {
        guard !steps.contains(where: { $0.action == .closure }) else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(steps)).map { BytesDigest.sha256(Array($0)) }
    }
}

extension RunRequest {
    /// Whether it starts in a fresh workspace even if there is a snapshot: a release, a clean run that is compared with
    /// warm ones, and a run with parameters, which may change what is built.
    package var beginsFromNothing: Bool {
        runsAtMostOnce || event == .tag || background == .cleanBuild || options.isClean || !parameters.isEmpty
    }
}
