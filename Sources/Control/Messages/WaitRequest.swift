public import Results
import Foundation

/// A wait for a verdict.
public struct WaitRequest: Sendable, Codable, Equatable {
    /// What the verdict is about.
    public enum Subject: Sendable, Codable, Equatable {
        /// One run, or the run that replaces it.
        case run(RunID)
        /// Exactly this commit, by its full id, in all workflows that run for it.
        case commit(String)
        /// A branch or tag, also when it moves; `commit` is the caller's commit of it.
        case ref(String, commit: String?)
        /// A change, also after further pushes.
        case change(String)
    }

    /// When the wait ends.
    public enum End: String, Sendable, Codable, CaseIterable {
        /// At the first step that finally failed, otherwise with the verdict.
        case failure
        /// When all runs have a verdict.
        case verdict
    }

    /// What to wait for.
    public var subject: Subject
    /// Only this repository, by its name.
    public var repository: String?
    /// Paths and URLs of the caller's repository. If none of them is watched, all repositories are asked.
    public var locations: [String]
    /// When the wait ends.
    public var end: End
    /// Whether the wait goes on if there is no such ref or change; nil is no.
    public var isEndless: Bool?

    public init(subject: Subject, repository: String? = nil, locations: [String] = [], end: End = .failure) {
        self.subject = subject
        self.repository = repository
        self.locations = locations
        self.end = end
    }
}

extension WaitRequest.Subject {
    /// In words.
    public var inWords: String {
        switch self {
        case .run(let id): "run \(id)"
        case .commit(let commit): "commit \(commit.prefix(10))"
        case .ref(let name, let commit): name + (commit.map { " at \($0.prefix(10))" } ?? "")
        case .change(let name): "change \(name)"
        }
    }
}
