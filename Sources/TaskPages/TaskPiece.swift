import PageMarkup
package import Reports
package import Results
import Pipeline
import TaskText

/// Pieces of pages that tasks have.
package enum TaskPiece {
    package static func link(_ task: TaskRecord) -> HTML { Piece.link(["tasks", "\(task.id)"], "task \(task.id)") }

    /// The state of a task: a sign, which has a colour, and words.
    package static func state(_ state: TaskState) -> HTML {
        "<span class=\"v k-\(kind(state))\"><span aria-hidden=\"true\">\(sign(state))</span> \(state.title)</span>"
    }

    /// The name of the colour.
    private static func kind(_ state: TaskState) -> HTML {
        if state.waitsForPerson { return "waits" }
        switch state {
        case .delivered, .released, .landed, .answered: return "done"
        case .refused, .cancelled, .givenUp: return "failed"
        default: return "underWay"
        }
    }

    private static func sign(_ state: TaskState) -> HTML {
        if state.waitsForPerson { return "?" }
        switch state {
        case .delivered, .released, .landed, .answered: return "✓"
        case .refused, .cancelled, .givenUp: return "✗"
        default: return "▶"
        }
    }

    /// Tasks as cards.
    package static func cards(_ tasks: [TaskRecord], none: StaticString, showsRepository: Bool = true) -> HTML {
        Piece.list(tasks, "cards", none: none) { task in
            var entry: HTML = "<p>\(state(task.state)) <b>\(link(task))</b> \(task.title)</p>\n<p class=\"quiet\">"
            if showsRepository { entry += "\(Piece.repository(task.repository)), " }
            entry += "\(TaskWords.source(of: task)), \(Piece.time(task.createdAt))</p>\n"
            if !task.reason.isEmpty { entry += "<p>\(text: String(task.reason.prefix(500)))</p>\n" }
            return entry
        }
    }

    /// Foreign text as it stands, with its lines.
    static func quote(_ text: String) -> HTML { "<pre class=\"quote\">\(text: text)</pre>\n" }

    /// A difference as it stands, with a colour for lines that are added or removed.
    ///
    /// - Parameter isPatch: Whether files have a head of their own, before their first `@@`.
    static func difference(_ lines: some Sequence<String>, _ label: String, isPatch: Bool = true) -> HTML {
        var html: HTML =
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"\(label)\"><pre class=\"diff\">"
        var isHead = isPatch
        for line in lines {
            if isPatch, line.hasPrefix("diff --git ") { isHead = true }
            if line.hasPrefix("@@") { isHead = false }
            let kind: HTML =
                isHead || line.hasPrefix("@@") ? "at" : line.hasPrefix("+") ? "add" : line.hasPrefix("-") ? "del" : ""
            html += kind.isEmpty ? "<span>\(text: line)</span>\n" : "<span class=\"d-\(kind)\">\(text: line)</span>\n"
        }
        return html + "</pre></div>\n"
    }
}
