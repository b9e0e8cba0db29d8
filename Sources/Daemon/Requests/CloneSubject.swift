import Watching
import Control
import Results
import Foundation
import Git

/// The subject of a run by hand in a clone of a watched repository.
///
/// Commits that the watched repository has are run there. Only unpushed commits and the working tree are read from the
/// clone; they never count as merged.
struct CloneSubject: Sendable {
    /// The clone's folder.
    let folder: String
    /// The watched repository, with the clone's objects.
    let repository: WatchedRepository
    let rules: TrustRules

    /// The request for a subject that only the clone has; nil if the watched repository has it.
    func request(for subject: StartRequest.Subject, workflow: String) async throws -> RunRequest? {
        let (repository, rules, folder) = (repository, rules, folder)
        if case .change = subject { return nil }
        return try await withRepository(at: folder) { clone in
            try lendRepository(at: repository.gitDirectory) { watched in
                var isWorkingTree = false
                switch subject {
                case .workingTree: isWorkingTree = true
                case .revision(let name):
                    // A name that the clone can't resolve may be a branch that it has not fetched.
                    guard let commit = try? clone.resolve("\(name)^{commit}"), !watched.contains(commit) else {
                        return nil
                    }
                case .change: return nil
                }
                var request = try RunRequest.byHand(
                    subject, workflow: workflow, in: clone, repository, rules)
                request.source = folder
                if isWorkingTree {
                    // Each clone has a working tree of its own, so their runs don't wait for each other.
                    request.subject = "working tree of \(folder)"
                } else {
                    // A clone's branches are not the repository's: a run here is not a run on "main".
                    (request.ref, request.branch, request.subject) = (request.head, nil, request.head)
                    let protected = ProtectedBranches.read(try watched.snapshot(), rules)
                    request.definitionCommit = protected.defaultTip?.hex ?? request.head
                }
                return request
            }
        }
    }

    /// The subject as the watched repository knows it: by commit if the same name means another one there.
    func shared(_ subject: StartRequest.Subject) async throws -> StartRequest.Subject {
        guard case .revision(let name) = subject else { return subject }
        func commit(in folder: String) async -> OID? {
            try? await withRepository(at: folder) { try $0.resolve("\(name)^{commit}") }
        }
        guard let here = await commit(in: folder), await commit(in: repository.gitDirectory) != here else {
            return subject
        }
        return .revision(here.hex)
    }
}
