package import Control
import Foundation
package import Git
import Pipeline
package import Results
import Store

extension RunRequest {
    /// The request for a run by hand, from the subject that the user named.
    package static func byHand(
        _ subject: StartRequest.Subject, workflow: String, in git: Repository, _ repository: WatchedRepository,
        _ rules: TrustRules
    ) throws -> RunRequest {
        let nonce = "by hand at \(Date().timeIntervalSince1970)-\(UInt32.random(in: 0 ... .max))"
        switch subject {
        case .workingTree(let commit):
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .manual, ref: "", branch: nil, head: commit,
                definitionCommit: commit, previous: try? git.resolve("HEAD").hex, kind: .manual, nonce: nonce,
                subject: "working tree", concurrency: .queue(max: 1_000))
        case .revision(let revision):
            let commit = try git.resolve(revision)
            let snapshot = try git.snapshot()
            let refs = snapshot.refs
            let protected = ProtectedBranches.read(snapshot, rules)
            // Unmerged code runs by the rules of the default branch.
            let definition = try protected.holder(of: commit, in: git) == nil ? protected.defaultTip : nil
            let ref = ["refs/heads/\(revision)", "refs/tags/\(revision)", revision].first { refs[$0] != nil }
            let branch = ref.flatMap { $0.hasPrefix("refs/heads/") ? String($0.dropFirst("refs/heads/".count)) : nil }
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .manual, ref: ref ?? revision,
                branch: branch, head: commit.hex, definitionCommit: (definition ?? commit).hex, kind: .manual,
                nonce: nonce,
                subject: ref ?? revision, concurrency: .queue(max: 1_000))
        case .change(let name):
            let snapshot = try git.snapshot()
            var changeRefs = rules.changeRefs
            changeRefs.numbered = changeRefs.numbering(by: snapshot.refs)
            let meant = changeRefs.meanings(of: name).filter { snapshot.refs[$0.ref] != nil }
            guard meant.count < 2 else { throw ChangeRefs.ambiguous(name, in: repository.name, meant) }
            let name = meant.first?.name ?? name
            guard let (ref, head) = snapshot.refs.first(where: { changeRefs.kind(of: $0.key) == .change(name) })
            else {
                let names = snapshot.refs.keys.compactMap {
                    if case .change(let name) = changeRefs.kind(of: $0) { name } else { nil }
                }
                throw RequestError(
                    .unknownChange,
                    "\(repository.location) has no change \"\(name)\"; it has \(names.isEmpty ? "none" : "\(names.count), for example \(names.sorted().prefix(3).joined(separator: ", "))")"
                )
            }
            guard let branch = rules.target.branch(in: snapshot.refs)?.name,
                let tip = snapshot.refs["refs/heads/\(branch)"]
            else {
                throw RequestError(
                    .unknownTarget,
                    "the target branch of change \(name) is not known; name it: `pipectl protect BRANCH --repository \(repository.name)`"
                )
            }
            let commit = try git.commit(head)
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .pullRequest, ref: ref, branch: branch,
                head: head.hex, definitionCommit: tip.hex,
                change: Change(
                    name: name, head: head.hex, target: branch, targetCommit: tip.hex, title: commit.summary,
                    author: commit.author.name),
                kind: .manual, nonce: nonce, subject: "change \(name)", concurrency: .queue(max: 1_000))
        }
    }
}
