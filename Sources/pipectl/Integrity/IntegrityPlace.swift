import Client
import Control
import Foundation
import Git
import Pipeline
import Reports
import Results
import StateFiles
import Store
import TerminalText

/// The repository that `integrity` reads, and the rules that apply.
struct IntegrityPlace: Sendable {
    /// A folder of a repository that has the commit.
    var folder: String
    /// What the daemon knows about the repository; nil if no daemon knows it.
    var policy: IntegrityPolicy?

    /// The target's own rules, otherwise the standard ones.
    var rules: [IntegrityRule] { policy?.rules ?? [.standard] }

    /// Notes for the reader about the rules.
    var notes: [String] {
        guard let policy else { return [] }
        if let problem = policy.problem { return ["\(problem); the standard rules apply"] }
        guard policy.rules == nil else { return [] }
        return ["no workflow of \(policy.repository) has .testIntegrity(); the standard rules apply"]
    }

    /// - Throws: ``RequestError`` for an unknown name.
    static func find(_ subject: RepositoryOption, _ state: StateOptions) async throws -> IntegrityPlace {
        if let folder = subject.path {
            return IntegrityPlace(folder: folder, policy: await asked(folder, state))
        }
        let name = subject.place
        do {
            let policy = try await state.ask(.integrityPolicy(name), "integrity") {
                if case .integrityPolicy(let policy) = $0 { policy } else { nil }
            }
            return IntegrityPlace(folder: policy.gitDirectory, policy: policy)
        } catch let error as RequestError where error.code == .unknownRepository {
            // A name comes first, but earlier versions took a folder here, so it is still accepted.
            guard FileManager.default.fileExists(atPath: name) else { throw error }
            return IntegrityPlace(folder: try RunSubject.top(of: name), policy: nil)
        }
    }

    /// What a running daemon knows about the repository in a folder, or about the one that it is a clone of. Without a
    /// daemon nothing is opened, since this command only reads.
    private static func asked(_ folder: String, _ state: StateOptions) async -> IntegrityPolicy? {
        guard let socket = try? state.folder().socket,
            let client = try? await DaemonClient<DaemonRequest, DaemonReply>.connect(path: socket),
            case .integrityPolicy(let policy)? = try? await client.ask(.integrityPolicy(folder))
        else { return nil }
        return policy
    }

    /// The commit to compare with: the point where `new` left its target branch, otherwise its parent; nil for a first
    /// commit.
    func base(of new: OID, against: String?, in store: Repository) throws -> OID? {
        if let against {
            let other = try store.resolve(against)
            return try store.mergeBase(other, new) ?? other
        }
        // A commit that has landed is compared with its parent.
        if let tip = try targetTip(in: store), let base = try store.mergeBase(tip, new), base != new { return base }
        return try store.commit(new).parents.first
    }

    /// The target's tip as the daemon knows it; if this clone lacks that commit, the tip that it fetched last.
    private func targetTip(in store: Repository) throws -> OID? {
        guard let policy, let branch = policy.target else { return nil }
        if let tip = policy.targetCommit.flatMap({ OID(hex: $0) }), store.contains(tip) { return tip }
        for ref in ["refs/remotes/origin/\(branch)", "refs/heads/\(branch)"] {
            if let tip = try? store.resolve("\(ref)^{commit}") { return tip }
        }
        return nil
    }
}
