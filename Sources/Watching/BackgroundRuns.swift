package import Workspaces
import Store
package import Results
import Foundation
import Git
import Pipeline
import WorkflowPrograms

/// The runs with which the box uses its idle time: they keep bases new, and see that being warm changes no verdict.
extension RunRequest {
    /// The workflow's run on the branch itself, whose workspace changes into the branch then begin from.
    package static func warmUp(
        _ workflow: String, repository: String, branch: String, commit: String, definition: String
    ) -> RunRequest {
        background(.warmUp(isMissed: false), workflow, repository, branch, commit, definition, nonce: "refresh")
    }

    package static func warmUp(_ key: SnapshotKey, commit: String) -> RunRequest {
        warmUp(key.workflow, repository: key.repository, branch: key.branch, commit: commit, definition: commit)
    }

    /// The same tree as a base's, from nothing; each time that it is due it is another run.
    package static func cleanBuild(of base: Snapshot, time: Int) -> RunRequest {
        background(
            .cleanBuild(of: base.isClean ? nil : base.run, hasFailed: false), base.key.workflow, base.key.repository,
            base.key.branch, base.commit, base.commit,
            nonce: "clean room \(time) after run \(base.run)")
    }

    /// The tree of a run that failed in a warm workspace, from nothing.
    package static func cleanBuild(after failed: Report, branch: String, definition: String) -> RunRequest {
        background(
            .cleanBuild(of: failed.id, hasFailed: true), failed.workflow, failed.repository, branch,
            failed.testedCommit ?? failed.head, definition,
            nonce: "clean room after run \(failed.id)")
    }

    private static func background(
        _ kind: RunKind, _ workflow: String, _ repository: String, _ branch: String, _ commit: String,
        _ definition: String, nonce: String
    ) -> RunRequest {
        var request = RunRequest(
            repository: repository, workflow: workflow, event: .push, ref: "refs/heads/\(branch)", branch: branch,
            head: commit, definitionCommit: definition, kind: kind, nonce: nonce, subject: "", concurrency: .latestOnly)
        request.subject = "\(request.background?.rawValue ?? "run") of \(branch)"
        return request
    }
}

extension WorkflowDeclaration {
    /// Whether changes into the branch run it, and nothing runs it on the branch itself.
    func needsRefresh(on branch: String) -> Bool {
        let starts = { (events: Set<Trigger.Event>) in
            triggers.contains { events.contains($0.event) && $0.matches(branch: branch) }
        }
        return starts([.pullRequest]) && !starts([.merge, .push]) && approval == nil
    }
}
