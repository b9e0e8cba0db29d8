import BuildBox
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

/// Where `integrity` looks, and by which rules.
struct IntegrityPlace: Sendable {
    /// A folder of a repository that has the commit.
    var folder: String
    /// What the box knows of the repository; nil where no daemon knows it.
    var policy: IntegrityPolicy?

    /// The target's own rules, else the standard ones.
    var rules: [IntegrityRule] { policy?.rules ?? [.standard] }

    /// What the reader must know about the rules.
    var notes: [String] {
        guard let policy else { return [] }
        if let problem = policy.problem { return ["\(problem); the standard rules count"] }
        guard policy.rules == nil else { return [] }
        return ["no workflow of \(policy.repository) has .testIntegrity(); the standard rules count"]
    }

    /// - Throws: ``RequestError`` for a name that is not known.
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
            // A folder here was taken before names were: a name comes first, but the folder is not refused.
            guard FileManager.default.fileExists(atPath: name) else { throw error }
            return IntegrityPlace(folder: try RunSubject.top(of: name), policy: nil)
        }
    }

    /// What a running daemon knows of the repository that a folder is, or is a clone of. Without one nothing is opened:
    /// the command only reads.
    private static func asked(_ folder: String, _ state: StateOptions) async -> IntegrityPolicy? {
        guard let socket = try? state.folder().socket,
            let client = try? await DaemonClient<DaemonRequest, DaemonReply>.connect(path: socket),
            case .integrityPolicy(let policy)? = try? await client.ask(.integrityPolicy(folder))
        else { return nil }
        return policy
    }

    /// The commit to compare with: where `new` left the branch it would land on, else its parent; nil for a first commit.
    func base(of new: OID, against: String?, in store: Repository) throws -> OID? {
        if let against {
            let other = try store.resolve(against)
            return try store.mergeBase(other, new) ?? other
        }
        // What is in the target has landed: it is compared with what was there before it.
        if let tip = try targetTip(in: store), let base = try store.mergeBase(tip, new), base != new { return base }
        return try store.commit(new).parents.first
    }

    /// The target as the box knows it; as this clone fetched it last where it does not have that commit.
    private func targetTip(in store: Repository) throws -> OID? {
        guard let policy, let branch = policy.target else { return nil }
        if let tip = policy.targetCommit.flatMap({ OID(hex: $0) }), store.contains(tip) { return tip }
        for ref in ["refs/remotes/origin/\(branch)", "refs/heads/\(branch)"] {
            if let tip = try? store.resolve("\(ref)^{commit}") { return tip }
        }
        return nil
    }
}
