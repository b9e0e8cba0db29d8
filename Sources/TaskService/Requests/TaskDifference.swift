import Control
import Foundation
import Git
package import Results
import Watching

extension TaskRequests {
    /// The longest difference that is shown, in bytes.
    private static let longestDifference = 256 << 10

    /// What a try changes on the target, as a unified difference; empty where there is no try.
    ///
    /// - Parameter attempt: The try; nil: the one that is offered, else the newest.
    package func difference(_ id: TaskID, attempt: Int?, by actor: TaskActor = .pipectl) async throws -> String {
        let view = try await show(id, by: actor)
        let wanted =
            attempt.map { number in view.tries.last { $0.attempt == number } } ?? view.chosen ?? view.tries.last
        guard let wanted, let commit = OID(hex: wanted.commit) else {
            if let attempt { throw TaskFailure.unusable("task \(id) has no try \(attempt) that made a commit") }
            return ""
        }
        let repository = try await repositories.repository(named: view.task.repository)
        let own = Set(view.tries.map(\.commit))
        return try await withRepository(at: repository.store) { git in
            // A try may stand on top of earlier ones.
            var base = try git.parents(of: commit).first
            while let found = base, own.contains(found.description) { base = try git.parents(of: found).first }
            return try git.patch(from: base, to: commit, maximumBytes: Self.longestDifference)
        }
    }
}
