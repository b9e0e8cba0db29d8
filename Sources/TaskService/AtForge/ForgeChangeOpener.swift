import Foundation
import ChangeOpening
package import ForgeConnection
import Forges
package import Results
package import Store
package import Watching

/// Opens the changes of tasks at the forges of connected repositories; elsewhere the branch is the change.
package struct ForgeChangeOpener: ChangeOpener {
    private let opener: ForgeOpener
    private let index: Store.Index
    private let branches = BranchOpener()

    package init(index: Store.Index, credentials: ForgeCredentialStore) {
        (opener, self.index) = (ForgeOpener(index: index, credentials: credentials), index)
    }

    package func existing(_ task: TaskRecord, in repository: WatchedRepository) async throws -> OpenedChange? {
        guard try await opener.isConnected(repository.name) else {
            return try await branches.existing(task, in: repository)
        }
        return try await opener.found(try await wanted(task), in: repository.name).map(Self.change)
    }

    package func open(
        _ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository
    ) async throws -> OpenedChange {
        guard try await opener.isConnected(repository.name) else {
            return try await branches.open(task, text, in: repository)
        }
        return Self.change(try await opener.open(try await wanted(task), in: repository.name))
    }

    package func update(_ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository) async throws {
        guard let number = task.change.flatMap({ Int($0) }) else { return }
        // From the outbox: a forge that is down delays only the words.
        let words = try await words(task)
        try await ForgeChangeText(change: number, title: words.title, body: words.body)
            .want(in: repository.name, index)
    }

    /// The words are made of the recorded facts, as forges must be told them.
    private func words(_ task: TaskRecord) async throws -> TaskMarkdown {
        TaskMarkdown(task: task, events: try await index.taskEvents(of: task.id))
    }

    private func wanted(_ task: TaskRecord) async throws -> ForgeOpening {
        let words = try await words(task)
        return ForgeOpening(
            branch: task.changeBranch, target: task.branch, title: words.title, body: words.body,
            since: task.createdAt)
    }

    private static func change(_ opened: ForgeOpened) -> OpenedChange {
        OpenedChange(name: "\(opened.number)", link: opened.link)
    }
}
