package import Control

/// What is said of a secret for a repository that may not exist.
package enum SecretScopeText {
    /// A warning if no repository has this name.
    ///
    /// - Parameter known: The names of all repositories.
    package static func warning(_ repository: String, known: [String]) -> String? {
        guard !known.contains(repository) else { return nil }
        let some = known.sorted().prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
        return
            "no repository has the name \"\(repository)\", so no run gets this secret until one with this name is watched; "
            + (some.isEmpty ? "none is known yet" : "known are \(some)\(known.count > 10 ? ", …" : "")")
    }
}

extension DaemonReply {
    /// The names of the repositories in a status; nil for other replies.
    package var repositoryNames: [String]? {
        if case .status(let status) = self { status.repositories.map(\.name) } else { nil }
    }
}
