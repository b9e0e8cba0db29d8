public import Results
import Foundation

/// A verdict that somebody waits for.
public struct WaitRequest: Sendable, Codable, Equatable {
    /// What the verdict is about.
    public enum Subject: Sendable, Codable, Equatable {
        /// One run, whatever takes its place.
        case run(RunID)
        /// Exactly this commit, in full: all workflows that it started count.
        case commit(String)
        /// A branch or tag, and whatever it moves to; `commit` is where the caller knows it to be.
        case ref(String, commit: String?)
        /// A change, and whatever is pushed to it.
        case change(String)
    }

    /// When the wait ends.
    public enum End: String, Sendable, Codable, CaseIterable {
        /// At the first step that failed for good, else at the end.
        case failure
        /// When everything has its verdict.
        case verdict
    }

    public var subject: Subject
    /// Only this repository, by its name on the box.
    public var repository: String?
    /// Where the caller stands: paths and URLs of which one may be a watched repository. What matches none is asked of
    /// all.
    public var locations: [String]
    public var end: End
    /// Whether it goes on where there is no such ref or change; nil is no.
    public var isEndless: Bool?

    public init(subject: Subject, repository: String? = nil, locations: [String] = [], end: End = .failure) {
        self.subject = subject
        self.repository = repository
        self.locations = locations
        self.end = end
    }
}

extension WaitRequest.Subject {
    /// As a person would say it.
    public var inWords: String {
        switch self {
        case .run(let id): "run \(id)"
        case .commit(let commit): "commit \(commit.prefix(10))"
        case .ref(let name, let commit): name + (commit.map { " at \($0.prefix(10))" } ?? "")
        case .change(let name): "change \(name)"
        }
    }
}
