public import Foundation
public import Pipeline

/// The state of a change, from the newest observation of its repository.
public struct ChangeRecord: Sendable, Equatable, Codable {
    /// Whether a change can land, or what became of it.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// It was tested, or is being tested, with the target's tip.
        case open
        /// The change conflicts with its target. No run is needed to find that out.
        case conflict
        /// The target has moved since the last test.
        case stale
        case landed
        /// The change's ref is gone, and the target does not contain it.
        case closed
    }

    /// The number of a pull request, or the branch of a change that has no number.
    public var name: String
    /// The branch that the change is to be merged into.
    public var target: String
    /// The newest commit of the change.
    public var head: String
    /// The target's tip at the last test, or at the last attempt to merge; nil before that.
    public var targetCommit: String?
    /// How far the change is.
    public var state: State
    /// The first line of the head commit's message.
    public var title: String
    /// The head commit's author.
    public var author: String
    /// The commit on the target that contains the change, if it has landed.
    public var landedCommit: String?
    /// How the landed change was recognised.
    public var recognition: MergedChange.Recognition?
    /// When the store recorded this state; set by the store.
    public var updatedAt: Date

    public init(
        name: String, target: String, head: String, targetCommit: String? = nil, state: State, title: String,
        author: String, landedCommit: String? = nil, recognition: MergedChange.Recognition? = nil,
        updatedAt: Date = Date(timeIntervalSince1970: 0)
    ) {
        self.name = name
        self.target = target
        self.head = head
        self.targetCommit = targetCommit
        self.state = state
        self.title = title
        self.author = author
        self.landedCommit = landedCommit
        self.recognition = recognition
        self.updatedAt = updatedAt
    }
}
