public import Foundation
public import Results

/// A station on the way of a task, from the request to the version that has it.
public struct TaskStage: Sendable, Equatable, Codable {
    public enum Name: String, Sendable, Codable, CaseIterable {
        case asked, plan, approval, work, reproduction, checks, review, change, landing, release, delivery
        /// The task ended before its change was delivered.
        case end
    }

    public enum State: String, Sendable, Codable {
        case done, failed
        /// It goes on now.
        case underWay
        /// A person is to decide.
        case waits
        /// The task is not there yet.
        case open
        /// The task does not need it.
        case skipped
    }

    public var name: Name
    public var state: State
    /// When it was reached; nil where it was not.
    public var at: Date?
    /// Seconds since the station before it.
    public var seconds: Double?
    /// What is known of it, in a sentence without its full stop. It may quote foreign text.
    public var text: String
    /// The newest run of it.
    public var run: RunID?

    init(_ name: Name, _ state: State, at: Date? = nil, _ text: String = "", run: RunID? = nil) {
        (self.name, self.state, self.at, self.text, self.run) = (name, state, at, text, run)
    }
}

extension TaskStage {
    /// A sign that needs no colour.
    public var sign: String {
        switch state {
        case .done: "✓"
        case .failed: "✗"
        case .underWay: "▶"
        case .waits: "?"
        case .open: "·"
        case .skipped: "–"
        }
    }

    /// The state for people.
    public var stateInWords: String {
        switch state {
        case .done: "done"
        case .failed: "failed"
        case .underWay: "under way"
        case .waits: "waits for a person"
        case .open: "not yet"
        case .skipped: "not needed"
        }
    }
}
