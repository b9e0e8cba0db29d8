import ForgeConnection
import Foundation
import Signing

/// Publishes as a release with assets at the connected forge.
struct ForgeReleasePublisher: Publisher {
    let access: ForgeAccess
    /// Whether it stays a draft.
    let isDraft: Bool
    /// Whether it is shown as one also where its version does not say so.
    let isPrerelease: Bool
    var patience = Patience()
    /// For how long the forge is asked before the steps of a run.
    var checkTime: Duration = .seconds(10)

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        guard release.tag.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9._+\/\-]*/) != nil, !release.tag.contains("..") else {
            throw DeliveryProblem(
                .invalid, "\"\(PublishedName.shown(release.tag))\" can't be a tag; choose another version")
        }
        let isPrerelease = isPrerelease || OrderedVersion(release.version)?.isCandidate == true
        return try await access.use { session in
            try await patience.run(say: say) {
                switch session.address.kind {
                case .github:
                    try await AssetRelease(
                        release: release, session: session, service: GitHubReleases(session: session),
                        progress: progress, say: say
                    ).publish(asDraft: isDraft, isPrerelease: isPrerelease)
                case .gitea, .forgejo:
                    try await AssetRelease(
                        release: release, session: session, service: GiteaReleases(session: session),
                        progress: progress, say: say
                    ).publish(asDraft: isDraft, isPrerelease: isPrerelease)
                case .gitlab:
                    try await GitLabRelease(release: release, session: session, progress: progress, say: say)
                        .publish(asDraft: isDraft)
                }
            }
        }
    }

    func check(tag: String, at commit: String) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await access.use { try await ask($0, tag, commit) } }
                group.addTask { try await Task.sleep(for: checkTime) }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as ForgeError {
            // Anything else may have passed when the release is published.
            if [.unauthorized, .badCredential].contains(error.code) { throw Patience.problem(error) }
        }
    }

    private func ask(_ session: ForgeSession, _ tag: String, _ commit: String) async throws {
        if try await session.mayWrite() == false {
            throw DeliveryProblem(
                .refused,
                "the connection with \(session.address.web) may not publish releases; give it "
                    + "\(session.address.kind.rightToWrite), as `pipectl forge connect` shows it")
        }
        try session.check(tag: tag, of: commit, at: try await session.commit(ofTag: tag))
    }
}

extension ForgeKind {
    /// What a credential needs to publish releases.
    fileprivate var rightToWrite: String {
        switch self {
        case .github: "\"contents: write\""
        case .gitlab: "the role Developer"
        case .gitea, .forgejo: "the right to write to the repository"
        }
    }
}

extension ForgeSession {
    /// The commit of a tag there; nil if there is no such tag.
    fileprivate func commit(ofTag tag: String) async throws -> String? {
        switch address.kind {
        case .github: try await GitHubReleases(session: self).commit(ofTag: tag)
        case .gitea, .forgejo: try await GiteaReleases(session: self).commit(ofTag: tag)
        case .gitlab: try await GitLabRelease.commit(ofTag: tag, self)
        }
    }

    /// Checks where the forge has a release's tag: it would show the files as those of that commit.
    ///
    /// - Parameters:
    ///   - commit: The one of the release.
    ///   - there: The one of the tag; nil if the forge does not have the tag.
    func check(tag: String, of commit: String, at there: String?) throws {
        guard let there, there != commit else { return }
        throw DeliveryProblem(
            .conflict,
            "the tag \(tag) is at commit \(PublishedName.shown(String(there.prefix(40)))) at \(address.web), and the "
                + "release is of \(commit); release a new version")
    }

    /// Checks that the forge has the commit at which it is to make a release's tag.
    func check(commit: String) async throws {
        let id = ForgeRequest.part(commit)
        let request: ForgeRequest =
            switch address.kind {
            case .github: .get("\(project)/commits/\(id)", ["per_page": "1"])
            case .gitlab: .get("\(project)/repository/commits/\(id)")
            case .gitea, .forgejo:
                .get("\(project)/git/commits/\(id)", ["stat": "false", "verification": "false", "files": "false"])
            }
        do { _ = try await send(request) } catch let error as ForgeError
            where [.notFound, .refused].contains(error.code)
        {
            throw DeliveryProblem(
                .invalid,
                "\(address.web) does not have commit \(commit), so it can't make the tag; push the commit there first, and "
                    + "`pipectl rerun RUN` goes on")
        }
    }
}
