package import PageMarkup
import Pipeline
import Reports
package import Results

/// All tasks: those that wait for a person first.
package struct TaskList {
    let tasks: [TaskRecord]
    let repository: String?

    /// - Parameters:
    ///   - tasks: The newest first.
    ///   - repository: The only repository whose tasks these are; nil: all.
    package init(_ tasks: [TaskRecord], of repository: String?) { (self.tasks, self.repository) = (tasks, repository) }

    /// The page.
    ///
    /// - Parameter older: The number before which older tasks begin; nil where there are none.
    package func page(older: TaskID?, isFirst: Bool) -> Page {
        let waiting = tasks.filter(\.state.waitsForPerson)
        let ended = tasks.filter(\.state.isEnded)
        let going = tasks.filter { !$0.state.waitsForPerson && !$0.state.isEnded }
        let query = repository.map { [("repository", $0)] } ?? []
        var head: HTML = "<p class=\"actions\">"
        head += Piece.link(["tasks", "new"], query: query, "New task") + "</p>\n"
        var sections: [Page.Section] = [.init("new", "", head)]
        if isFirst || !waiting.isEmpty {
            sections.append(
                .init("waiting", "Waiting for a person", TaskPiece.cards(waiting, none: "No task waits for a person.")))
        }
        if isFirst || !going.isEmpty {
            sections.append(.init("going", "Under way", TaskPiece.cards(going, none: "No task is under way.")))
        }
        var rest = TaskPiece.cards(ended, none: "No task has ended yet.")
        if let older {
            rest += "<p>\(Piece.link(["tasks"], query: query + [("before", "\(older)")], "Older tasks"))</p>\n"
        }
        sections.append(.init("ended", "Ended", rest))
        let command = "pipectl task list" + (repository.map { " --repository \($0.shellQuoted)" } ?? "")
        var page = Page("Tasks", command: command, sections)
        page.isLive = isFirst
        return page
    }
}
