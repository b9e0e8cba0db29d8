import DaemonLog
import Foundation
package import Logging
package import Pipeline
import Running
import Synchronization
package import Watching

/// What watched repositories declare about tasks, as their targets have it now. It asks seldom, however often it is asked.
package final class TaskSources: Sendable {
    /// How long an answer is used, in seconds: a new declaration counts at the latest after that.
    static let memory = 20.0

    private struct Known {
        var rules: TasksDeclaration?
        var at: Date
    }

    private let declarations: TaskDeclarations
    private let repositories: KnownRepositories
    private let log: Logger
    private let known = Mutex<[String: Known]>([:])

    package init(declarations: TaskDeclarations, repositories: KnownRepositories, log: Logger) {
        (self.declarations, self.repositories, self.log) = (declarations, repositories, log)
    }

    /// The names of the repositories that this daemon watches.
    package var watched: [String] { repositories.watchers.all.map(\.repository.name).sorted() }

    /// What a repository declares; nil: no tasks, or its definition can't be used now.
    package func rules(of repository: String) async -> TasksDeclaration? {
        if let found = known.withLock({ $0[repository] }), (0..<Self.memory).contains(-found.at.timeIntervalSinceNow) {
            return found.rules
        }
        var rules: TasksDeclaration?
        do {
            rules = try await declarations.find(in: repositories.repository(named: repository)).declaration
        } catch TaskFailure.notDeclared {
        } catch {
            log.debug("\(repository) declares no tasks that can be read: \(error)")
        }
        let found = Known(rules: rules, at: Date())
        known.withLock { $0[repository] = found }
        return rules
    }

    /// The watched repositories for which `pick` finds something in what they declare.
    package func all<Value: Sendable>(_ pick: (TaskSourceRule) -> Value?) async -> [(repository: String, value: Value)]
    {
        var found: [(repository: String, value: Value)] = []
        for name in watched {
            for source in await rules(of: name)?.sources ?? [] {
                if let value = pick(source) { found.append((name, value)) }
            }
        }
        return found
    }
}
