import ForgeConnection
import Foundation

/// The requests with which one kind of forge merges a change.
protocol ForgeMergeService: Sendable {
    /// Asks the forge to merge, with the expected head.
    ///
    /// - Returns: The commit on the target, if the answer contains it.
    func orderMerge(_ wanted: ForgeMerge) async throws -> String?

    /// Reads the state of a change.
    func mergeFacts(_ change: Int) async throws -> ForgeMergeFacts
}

extension ForgeMergeService {
    /// Merges a change. It takes effect once, however often it is called with the same head.
    ///
    /// After every answer but success it reads the state of the change, because an earlier call may have merged it and
    /// its answer may have been lost.
    ///
    /// - Throws: ``ForgeMergeError``; `CancellationError`.
    func merge(_ wanted: ForgeMerge) async throws -> ForgeMerged {
        do {
            if let commit = try await orderMerge(wanted) { return ForgeMerged(commit: commit) }
            return try await lookUp(wanted, after: nil)
        } catch let error as ForgeError {
            // Nothing was done, and the next request would be refused, too.
            if error.code == .rateLimited {
                throw ForgeMergeError(.notNow, error.description, retryAt: error.retryAt)
            }
            return try await lookUp(wanted, after: error)
        }
    }

    /// Finds out whether a change is merged, and merges nothing.
    ///
    /// - Returns: Nil if it is not.
    /// - Throws: ``ForgeMergeError``; `CancellationError`.
    func merged(_ wanted: ForgeMerge) async throws -> ForgeMerged? {
        do {
            guard try await mergeFacts(wanted.change).isMerged else { return nil }
        } catch let error as ForgeError {
            let code: ForgeMergeError.Code =
                [.unauthorized, .forbidden, .notFound].contains(error.code) ? .notAllowed : .notNow
            throw ForgeMergeError(code, error.description, retryAt: error.retryAt)
        }
        return try await lookUp(wanted, after: nil)
    }

    private func lookUp(_ wanted: ForgeMerge, after failure: ForgeError?) async throws -> ForgeMerged {
        let facts: ForgeMergeFacts
        do {
            facts = try await mergeFacts(wanted.change)
        } catch let error as ForgeError {
            // The answer to the merge request is more precise than that of the look-up.
            if let failure, [.unauthorized, .forbidden, .notFound].contains(failure.code) {
                throw ForgeMergeError(.notAllowed, failure.description)
            }
            throw ForgeMergeError(
                .unknownEnd, (failure ?? error).description, retryAt: failure?.retryAt ?? error.retryAt)
        }
        if facts.isMerged {
            // The forge merged the head of that moment; a later push does not change it.
            guard facts.head == wanted.head else {
                throw ForgeMergeError(
                    .headMoved, "the forge merged \(facts.head.prefix(10)), not \(wanted.head.prefix(10))")
            }
            if let commit = facts.commit { return ForgeMerged(commit: commit) }
            throw ForgeMergeError(.unknownEnd, "the forge has merged the change but does not say as which commit")
        }
        if facts.head != wanted.head {
            throw ForgeMergeError(
                .headMoved, "the change's head is \(facts.head.prefix(10)), not \(wanted.head.prefix(10))")
        }
        throw Self.refusal(failure, facts)
    }

    private static func refusal(_ failure: ForgeError?, _ facts: ForgeMergeFacts) -> ForgeMergeError {
        guard let failure else {
            return ForgeMergeError(.notNow, "the forge took the order but has not merged the change yet")
        }
        switch failure.code {
        case .unreachable, .unavailable, .badAnswer:
            return ForgeMergeError(.notNow, failure.description, retryAt: failure.retryAt)
        case .unauthorized, .forbidden:
            return ForgeMergeError(.notAllowed, failure.description)
        default:
            // While the forge finds out whether a change can be merged, it refuses.
            let code: ForgeMergeError.Code =
                facts.isMergeable.map { $0 ? .notAllowed : .notMergeable } ?? .notNow
            return ForgeMergeError(code, failure.description, retryAt: failure.retryAt)
        }
    }
}

/// Source: https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
extension GitHubService {
    func orderMerge(_ wanted: ForgeMerge) async throws -> String? {
        struct Body: Encodable {
            var sha: String
            var mergeMethod: String
            var commitTitle: String?
            var commitMessage: String?
        }
        struct Done: Decodable { var sha: String?, merged: Bool }
        let body = Body(
            sha: wanted.head, mergeMethod: wanted.method.rawValue, commitTitle: wanted.title,
            commitMessage: wanted.message)
        let done = try await session.send(.send(.put, "\(root)/pulls/\(wanted.change)/merge", body)).decode(Done.self)
        return done.merged ? done.sha : nil
    }

    func mergeFacts(_ change: Int) async throws -> ForgeMergeFacts {
        struct Pull: Decodable {
            var merged: Bool
            var mergeCommitSha: String?
            var mergeable: Bool?
            var state: String
            var draft: Bool?
            var head: Head
            struct Head: Decodable { var sha: String }
        }
        let pull = try await session.send(.get("\(root)/pulls/\(change)")).decode(Pull.self)
        let isOpen = pull.state == "open" && pull.draft != true
        return ForgeMergeFacts(
            isMerged: pull.merged, commit: pull.merged ? pull.mergeCommitSha : nil, head: pull.head.sha,
            isMergeable: isOpen ? pull.mergeable : false)
    }
}

/// Source: https://docs.gitlab.com/api/merge_requests/#merge-a-merge-request
extension GitLabService {
    private struct MergeRequest: Decodable {
        var state: String
        var sha: String
        var mergeCommitSha: String?
        var squashCommitSha: String?
        var hasConflicts: Bool?
        var draft: Bool?

        /// Without a merge commit, the target is at the squashed commit or at the head itself.
        var landed: String? { state == "merged" ? mergeCommitSha ?? squashCommitSha ?? sha : nil }
    }

    func orderMerge(_ wanted: ForgeMerge) async throws -> String? {
        struct Body: Encodable {
            var sha: String
            var squash: Bool
            var mergeCommitMessage: String?
            var squashCommitMessage: String?
        }
        let text = wanted.title.map { title in wanted.message.map { "\(title)\n\n\($0)" } ?? title }
        let body = Body(
            sha: wanted.head, squash: wanted.method == .squash, mergeCommitMessage: text,
            squashCommitMessage: wanted.method == .squash ? text : nil)
        return try await session.send(.send(.put, "\(root)/merge_requests/\(wanted.change)/merge", body))
            .decode(MergeRequest.self).landed
    }

    func mergeFacts(_ change: Int) async throws -> ForgeMergeFacts {
        let found = try await session.send(.get("\(root)/merge_requests/\(change)")).decode(MergeRequest.self)
        let isOpen = found.state == "opened" && found.draft != true
        return ForgeMergeFacts(
            isMerged: found.state == "merged", commit: found.landed, head: found.sha,
            isMergeable: isOpen ? found.hasConflicts.map { !$0 } : false)
    }
}

/// Source: https://docs.gitea.com/api/ (repoMergePullRequest)
extension GiteaService {
    func orderMerge(_ wanted: ForgeMerge) async throws -> String? {
        struct Body: Encodable {
            var method: String
            var head: String
            var title: String?
            var message: String?
            enum CodingKeys: String, CodingKey {
                case method = "Do"
                case head = "head_commit_id"
                case title = "MergeTitleField"
                case message = "MergeMessageField"
            }
        }
        let body = Body(
            method: wanted.method.rawValue, head: wanted.head, title: wanted.title, message: wanted.message)
        _ = try await session.send(.send(.post, "\(root)/pulls/\(wanted.change)/merge", body, keys: .useDefaultKeys))
        // The answer is empty; the pull request tells the commit.
        return nil
    }

    func mergeFacts(_ change: Int) async throws -> ForgeMergeFacts {
        struct Pull: Decodable {
            var merged: Bool
            var mergeCommitSha: String?
            var mergeable: Bool?
            var state: String
            var draft: Bool?
            var head: Head
            struct Head: Decodable { var sha: String }
        }
        let pull = try await session.send(.get("\(root)/pulls/\(change)")).decode(Pull.self)
        let isOpen = pull.state == "open" && pull.draft != true
        return ForgeMergeFacts(
            isMerged: pull.merged, commit: pull.merged ? pull.mergeCommitSha : nil, head: pull.head.sha,
            isMergeable: isOpen ? pull.mergeable : false)
    }
}
