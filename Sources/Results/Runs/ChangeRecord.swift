public import Foundation
public import Pipeline

/// A change as it stands, from the newest look at its repository.
public struct ChangeRecord: Sendable, Equatable, Codable {
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Tested, or being tested, against the target's tip.
        case open
        /// Does not merge into the target; no run is needed to say so.
        case conflict
        /// The target has moved since the last test.
        case stale
        case landed
        /// Its ref is gone, and it is not in the target.
        case closed
    }

    /// The number of a pull request, or the branch of a change that has no number.
    public var name: String
    public var target: String
    public var head: String
    /// The target's tip at the last test, or at the last try to merge; nil before that.
    public var targetCommit: String?
    public var state: State
    public var title: String
    public var author: String
    /// The commit on the target that brought it, when it has landed.
    public var landedCommit: String?
    public var recognition: MergedChange.Recognition?
    /// When the index learned this; set by the index.
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
