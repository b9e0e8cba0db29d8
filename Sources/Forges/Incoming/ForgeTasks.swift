/// What a daemon does about tasks for what its forges tell.
package struct ForgeTasks: Sendable {
    /// What tasks of a repository want to hear of its forge.
    package struct Interest: Sendable, Equatable {
        /// Whether the repository declares tasks; if not, its issues are not read.
        package var isDeclared: Bool
        /// The labels that make a task of an issue.
        package var labels: Set<String>
        /// The changes of tasks, by their numbers: what people say there is a remark.
        package var changes: Set<Int>

        package init(isDeclared: Bool = false, labels: Set<String> = [], changes: Set<Int> = []) {
            (self.isDeclared, self.labels, self.changes) = (isDeclared, labels, changes)
        }
    }

    /// Something that a person who may write said at the change of a task.
    package struct Remark: Sendable, Equatable {
        package var repository: String
        package var change: Int
        package var text: String
        /// For people: `ada at GitHub`.
        package var by: String
        /// The same for each repetition, and no other.
        package var key: String

        package init(repository: String, change: Int, text: String, by: String, key: String) {
            (self.repository, self.change, self.text, self.by, self.key) = (repository, change, text, by, key)
        }
    }

    package var interest: @Sendable (_ repository: String) async throws -> Interest
    /// Makes a task of an issue because somebody who may write wants it, once for each issue.
    package var begin: @Sendable (_ issue: ForgeIssue, _ by: String, _ repository: String) async throws -> ForgeOutcome
    package var remark: @Sendable (Remark) async throws -> Void

    package init(
        interest: @escaping @Sendable (_ repository: String) async throws -> Interest,
        begin:
            @escaping @Sendable (_ issue: ForgeIssue, _ by: String, _ repository: String) async throws ->
            ForgeOutcome,
        remark: @escaping @Sendable (Remark) async throws -> Void
    ) {
        (self.interest, self.begin, self.remark) = (interest, begin, remark)
    }
}
