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
}

extension ReleaseContent {
    /// Checks where the forge has the release's tag: it would show the files as those of that commit.
    ///
    /// - Parameter commit: Nil if the forge does not have it.
    func check(tagAt commit: String?) throws {
        guard let commit, commit != self.commit else { return }
        throw DeliveryProblem(
            .conflict,
            "the tag \(tag) is at commit \(PublishedName.shown(String(commit.prefix(40)))) there, and the release is of "
                + "\(self.commit); release a new version")
    }
}
