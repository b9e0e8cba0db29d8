import ForgeConnection
import Foundation
import Results

/// One attempt to publish a release at GitLab, which has no drafts: the files go into the generic packages first, and one
/// request then makes the release with links to all of them. Source: https://docs.gitlab.com/api/releases/
struct GitLabRelease: Sendable {
    let release: ReleaseContent
    let session: ForgeSession
    let progress: any PublishingProgress
    let say: @Sendable (String) -> Void

    private struct Found: Decodable, Sendable {
        var tagName: String
        var commit: Commit?
        var assets: Assets?
        struct Commit: Decodable, Sendable { var id: String }
        struct Assets: Decodable, Sendable { var links: [Link]? }
        struct Link: Decodable, Sendable { var name: String, url: String }
    }

    func publish(asDraft: Bool) async throws -> Publication {
        guard !asDraft else {
            throw DeliveryProblem(
                .invalid, "GitLab has no drafts of releases; leave out draft: true, and let a person approve before")
        }
        let path = "\(session.project)/releases"
        let name = String(session.address.project.split(separator: "/").last ?? "release")
        let packages = GitLabPackages(session: session, name: name)
        if let found = try await session.found("\(path)/\(ForgeRequest.part(release.tag))", Found.self) {
            try await check(found, packages)
        } else {
            let tagged = try await Self.commit(ofTag: release.tag, session)
            try session.check(tag: release.tag, of: release.commit, at: tagged)
            if tagged == nil { try await session.check(commit: release.commit) }
            try await packages.upload(release, progress: progress, say: say)
            try await progress.confirm()
            try await create(path, packages)
        }
        return Publication(
            state: .released,
            address: "\(session.address.web)/-/releases/\(ForgeRequest.part(release.tag))")
    }

    /// The commit of a tag; nil if there is none. GitLab passes over `ref` where there is a tag.
    static func commit(ofTag tag: String, _ session: ForgeSession) async throws -> String? {
        struct Tag: Decodable, Sendable {
            var name: String
            var commit: Found.Commit?
        }
        return try await session.pages(
            "\(session.project)/repository/tags", ["search": "^\(tag)"], of: Tag.self
        )
        .first { $0.name == tag }?.commit?.id
    }

    private func create(_ path: String, _ packages: GitLabPackages) async throws {
        struct Body: Encodable {
            var tagName: String, name: String, description: String, ref: String
            var assets: Assets
            struct Assets: Encodable { var links: [Link] }
            struct Link: Encodable {
                var name: String, url: String
                var linkType = "package"
            }
        }
        let links = release.files.map {
            Body.Link(name: $0.name, url: packages.address(of: $0, version: release.version))
        }
        let body = Body(
            tagName: release.tag, name: release.version, description: ReleaseMark(release).body(release.notes),
            ref: release.commit, assets: Body.Assets(links: links))
        do { _ = try await session.send(.send(.post, path, body)) } catch let error as ForgeError
            where error.status == 409
        {
            throw DeliveryProblem(.unreachable, "the release was made meanwhile; looking again")
        }
        say("release \(release.tag) is published")
    }

    private func check(_ found: Found, _ packages: GitLabPackages) async throws {
        if let commit = found.commit?.id, commit != release.commit {
            throw conflict("it is of commit \(PublishedName.shown(String(commit.prefix(40))))")
        }
        let links = found.assets?.links ?? []
        for file in release.files {
            let address = packages.address(of: file, version: release.version)
            guard links.contains(where: { $0.name == file.name && $0.url == address }) else {
                throw conflict("\(file.name) is not linked")
            }
        }
        let missing = try await packages.missing(release)
        guard missing.isEmpty else { throw conflict("\(missing[0].name) is linked, but its package is gone") }
    }

    private func conflict(_ what: String) -> DeliveryProblem {
        DeliveryProblem(
            .conflict,
            "release \(release.tag) is not the one to publish: \(what); a version is never replaced, so release a new one"
        )
    }
}
