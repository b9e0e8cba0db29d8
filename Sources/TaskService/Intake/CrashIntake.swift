import Control
import Foundation
import Pipeline
import Results

extension CrashEndpoint {
    /// The endpoint of the repositories that declare it.
    ///
    /// - Parameter secret: The value of a secret of a repository; nil: it is not set.
    package init(
        requests: TaskRequests, sources: TaskSources,
        secret: @escaping @Sendable (_ name: String, _ repository: String) async throws -> [UInt8]?
    ) {
        self.init(
            repositories: {
                var tokens: [String: [UInt8]?] = [:]
                for (name, _) in await sources.all({ $0 == .crashEndpoint ? true : nil }) {
                    tokens[name] = .some(try await secret(Self.tokenName, name))
                }
                return tokens
            },
            take: { delivery in
                let draft = TaskDraft(
                    repository: delivery.repository, text: delivery.text ?? "", source: .person,
                    reporter: "a crash service", crash: delivery.report, version: delivery.version)
                do {
                    let (task, isNew) = try await requests.add(draft, by: .pipectl)
                    return Taken(
                        task: task.id, isNew: isNew, count: task.crash?.count ?? 1, state: task.state.rawValue)
                } catch let failure as TaskFailure {
                    throw Refusal(failure.requestError.description)
                }
            })
    }
}
