package import Workspaces
import Store
package import Results
import Foundation
import Git
import Pipeline
import WorkflowPrograms

/// Runs for idle time: they make new snapshots, and check that warm workspaces give the same verdicts.
extension RunRequest {
    /// A run of the workflow on the branch itself, from whose workspace changes into the branch then start.
    ///
    /// - Parameter machine: The machine that is to have the snapshot; nil for the one that the run gets.
    package static func warmUp(
        _ workflow: String, repository: String, branch: String, commit: String, definition: String,
        on machine: String? = nil
    ) -> RunRequest {
        background(
            .warmUp(isMissed: false), workflow, repository, branch, commit, definition, machine, nonce: "refresh")
    }

    package static func warmUp(_ wanted: MissedSnapshot) -> RunRequest {
        let (key, commit) = (wanted.key, wanted.commit)
        return warmUp(
            key.workflow, repository: key.repository, branch: key.branch, commit: commit, definition: commit,
            on: wanted.machine)
    }

    /// A fresh run of a snapshot's tree, on the machine that has the snapshot; each time that it is due it is another run.
    ///
    /// - Parameter machine: Nil for the daemon's.
    package static func cleanBuild(of base: SnapshotFacts, on machine: String?, time: Int) -> RunRequest {
        background(
            .cleanBuild(of: base.isClean ? nil : base.run, hasFailed: false), base.key.workflow, base.key.repository,
            base.key.branch, base.commit, base.commit, machine,
            nonce: "clean room \(time) after run \(base.run)")
    }

    /// A fresh run of the tree that failed in a warm workspace, on the same machine.
    package static func cleanBuild(after failed: Report, branch: String, definition: String) -> RunRequest {
        background(
            .cleanBuild(of: failed.id, hasFailed: true), failed.workflow, failed.repository, branch,
            failed.testedCommit ?? failed.head, definition, failed.machine,
            nonce: "clean room after run \(failed.id)")
    }

    private static func background(
        _ kind: RunKind, _ workflow: String, _ repository: String, _ branch: String, _ commit: String,
        _ definition: String, _ machine: String?, nonce: String
    ) -> RunRequest {
        let on = machine.map { " on \($0)" } ?? ""
        var request = RunRequest(
            repository: repository, workflow: workflow, event: .push, ref: "refs/heads/\(branch)", branch: branch,
            head: commit, definitionCommit: definition, kind: kind, nonce: nonce + on, subject: "",
            concurrency: .latestOnly)
        // Runs of one subject take one another's place, which those for two machines must not.
        request.subject = "\(request.background?.rawValue ?? "run") of \(branch)\(on)"
        request.options.machine = machine
        return request
    }
}

extension WorkflowDeclaration {
    /// Whether the workflow runs for changes into the branch but not on the branch itself.
    func needsRefresh(on branch: String) -> Bool {
        let starts = { (events: Set<Trigger.Event>) in
            triggers.contains { events.contains($0.event) && $0.matches(branch: branch) }
        }
        return starts([.pullRequest]) && !starts([.merge, .push]) && approval == nil
    }
}
