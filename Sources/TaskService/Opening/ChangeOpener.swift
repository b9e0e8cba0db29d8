package import Results
package import Watching

/// Opens the change of a task: shows it to people at a forge, or lets the branch stand for it.
///
/// Each call may be repeated after a crash, so it looks first what is there and never makes a second one.
package protocol ChangeOpener: Sendable {
    /// The change that exists for the branch of a task; nil if there is none, and it can be opened.
    func existing(_ task: TaskRecord, in repository: WatchedRepository) async throws -> OpenedChange?
    /// Opens the change for the branch of a task, which is pushed already.
    func open(_ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository) async throws -> OpenedChange
    /// Replaces title and text of the change.
    func update(_ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository) async throws
}

/// A change that stands for the work on a task.
package struct OpenedChange: Sendable, Equatable {
    /// The name that the change has: its number at the forge, or its branch.
    package var name: String
    /// The address of its page.
    package var link: String?

    package init(name: String, link: String? = nil) { (self.name, self.link) = (name, link) }
}

/// What a change says about itself.
package struct ChangeText: Sendable, Equatable {
    /// One line.
    package var title: String
    /// Markdown: the plan, what was done, how it was tested.
    package var body: String

    package init(title: String, body: String) { (self.title, self.body) = (title, body) }
}

/// Where there is no forge: the branch is the change.
package struct BranchOpener: ChangeOpener {
    package init() {}

    package func existing(_ task: TaskRecord, in repository: WatchedRepository) async throws -> OpenedChange? { nil }

    package func open(
        _ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository
    ) async throws -> OpenedChange {
        OpenedChange(name: task.changeBranch)
    }

    package func update(_ task: TaskRecord, _ text: ChangeText, in repository: WatchedRepository) async throws {}
}
