package import Foundation

/// A change that pipectl wants to have at a forge, for a branch of its own.
package struct ForgeOpening: Sendable, Equatable {
    /// The branch, which the forge has already.
    package var branch: String
    /// The branch that it is to land on.
    package var target: String
    /// One line.
    package var title: String
    /// Markdown. Foreign text in it is escaped.
    package var body: String
    /// When pipectl made the branch: a change that was not touched since can't be of it.
    package var since: Date

    package init(branch: String, target: String, title: String, body: String, since: Date) {
        (self.branch, self.target, self.title, self.body, self.since) = (branch, target, title, body, since)
    }
}

/// A change of pipectl's own branch, as the forge has it.
package struct ForgeOpened: Sendable, Equatable {
    /// What became of a change.
    package enum State: Sendable, Equatable {
        case open, merged, closed
    }

    package var number: Int
    /// Its page, if the forge's answer names one that a browser can open.
    package var link: String?
    /// The commit that it is at.
    package var head: String
    package var state: State
    package var title: String
    package var body: String

    package init(
        number: Int, link: String?, head: String, state: State = .open, title: String = "", body: String = ""
    ) {
        (self.number, self.link, self.head, self.state) = (number, link, head, state)
        (self.title, self.body) = (title, body)
    }
}
