import ForgeConnection
import Foundation
import Results
import Signing

/// A release as a forge shows it.
struct ForgeRelease: Decodable, Sendable {
    var id: Int
    var tagName: String
    var targetCommitish: String?
    var body: String?
    var draft: Bool
    var prerelease: Bool?
    var uploadUrl: String?
}

/// A file of a release as a forge shows it.
struct ForgeAsset: Decodable, Sendable {
    var id: Int
    var name: String
    var size: Int
    /// GitHub: `starter` until its upload is complete.
    var state: String?
    /// GitHub: `sha256:` and hex; old ones have none.
    var digest: String?
    /// Its address in GitHub's API.
    var url: String?
    var browserDownloadUrl: String?
}

/// What differs between forges whose releases hold assets.
protocol ForgeReleaseService: Sendable {
    /// Whether the forge is told which release is the latest.
    var asksForLatest: Bool { get }
    /// A name in a form that is the same for a file and for what the forge has made of its name.
    func comparable(_ name: String) -> String
    /// The commit of a tag; nil if there is none.
    func commit(ofTag tag: String) async throws -> String?
    /// The files that the forge has of a release.
    func assets(of release: ForgeRelease) async throws -> [ForgeAsset]
    func upload(_ file: ReleaseFile, to release: ForgeRelease) async throws -> ForgeAsset
    /// Where the content of an asset is read.
    func address(of asset: ForgeAsset) -> String?
    func deletePath(_ asset: ForgeAsset, of release: ForgeRelease) -> String
}

/// One attempt to publish a release at GitHub, Gitea or Forgejo: first a draft, then its assets, and at the end it is
/// shown to everybody.
struct AssetRelease: Sendable {
    let release: ReleaseContent
    let session: ForgeSession
    let service: any ForgeReleaseService
    let progress: any PublishingProgress
    let say: @Sendable (String) -> Void

    private var mark: ReleaseMark { ReleaseMark(release) }
    private var releases: String { "\(session.project)/releases" }

    func publish(asDraft: Bool, isPrerelease: Bool) async throws -> Publication {
        let tagged = try await service.commit(ofTag: release.tag)
        try session.check(tag: release.tag, of: release.commit, at: tagged)
        let all = try await session.pages(releases, of: ForgeRelease.self)
        if tagged == nil { try await session.check(commit: release.commit) }
        let found: ForgeRelease
        if let there = try await existing(among: all) { found = there } else { found = try await create(isPrerelease) }
        let isOwn = try await isOwn(found)
        try await complete(found, isOwn: isOwn)
        if found.draft, !asDraft {
            try await progress.confirm()
            struct Body: Encodable {
                var draft = false
                var prerelease: Bool, body: String, makeLatest: String?
            }
            // The notes may have been edited before this attempt, which continues an earlier one.
            let body = Body(
                prerelease: isPrerelease, body: mark.body(release.notes), makeLatest: latest(among: all, isPrerelease))
            // Somebody else may have published the tag since this attempt has looked.
            _ = try await orLookAgain { try await session.send(.send(.patch, "\(releases)/\(found.id)", body)) }
            say("release \(release.tag) is published")
        }
        let isHidden = found.draft && asDraft
        return Publication(
            state: isHidden ? .uploaded : .released,
            address: isHidden
                ? "\(session.address.web)/releases"
                : "\(session.address.web)/releases/tag/\(ForgeRequest.part(release.tag))")
    }

    /// The release of the tag. Of several drafts that earlier attempts have made, one is left.
    private func existing(among all: [ForgeRelease]) async throws -> ForgeRelease? {
        let all = all.filter { $0.tagName == release.tag }
        var own: [ForgeRelease] = []
        for draft in all where draft.draft {
            if try await isOwn(draft) { own.append(draft) }
        }
        own.sort { $0.id < $1.id }
        if let published = all.first(where: { !$0.draft }) {
            for draft in own { try await session.delete("\(releases)/\(draft.id)") }
            return published
        }
        guard let first = own.first else {
            guard all.isEmpty else {
                throw DeliveryProblem(
                    .conflict,
                    "a draft of \(release.tag) that is not of this release is at \(session.address.web)/releases; delete it, and run the step again"
                )
            }
            return nil
        }
        for other in own.dropFirst() { try await session.delete("\(releases)/\(other.id)") }
        return first
    }

    private func isOwn(_ found: ForgeRelease) async throws -> Bool {
        if found.body?.contains(mark.text) == true { return true }
        return try await progress.value("release") == "\(found.id)"
    }

    /// Whether it is to be shown as the latest, as GitHub wants to hear it: a candidate is not, nor is a version without
    /// an order, nor one older than another that is there; nil: the forge does not ask.
    private func latest(among all: [ForgeRelease], _ isPrerelease: Bool) -> String? {
        guard service.asksForLatest else { return nil }
        guard !isPrerelease, let own = OrderedVersion(release.version) else { return "false" }
        // Another product of the repository may have tags that begin otherwise.
        let beginning = release.tag.hasSuffix(release.version) ? release.tag.dropLast(release.version.count) : ""
        let isOlder = all.contains { other in
            guard !other.draft, other.prerelease != true, other.tagName.hasPrefix(beginning),
                let version = OrderedVersion(String(other.tagName.dropFirst(beginning.count)))
            else { return false }
            return own < version && !version.isCandidate
        }
        return isOlder ? "false" : "true"
    }

    private func create(_ isPrerelease: Bool) async throws -> ForgeRelease {
        struct Body: Encodable {
            var tagName: String, targetCommitish: String, name: String, body: String
            var draft = true
            var prerelease: Bool
        }
        let body = Body(
            tagName: release.tag, targetCommitish: release.commit, name: release.version,
            body: mark.body(release.notes), prerelease: isPrerelease)
        let made = try await orLookAgain { try await session.send(.send(.post, releases, body)) }
            .decode(ForgeRelease.self)
        try await progress.set("release", to: "\(made.id)")
        say("draft \(made.id) of \(release.tag) is made")
        return made
    }

    /// Uploads what is missing and checks what is there.
    private func complete(_ found: ForgeRelease, isOwn: Bool) async throws {
        let mayChange = isOwn && found.draft
        var isUploaded = false
        for isLast in [false, true] {
            let assets = try await service.assets(of: found)
            for file in release.files {
                let name = service.comparable(file.name)
                if let asset = assets.first(where: { service.comparable($0.name) == name }) {
                    let isSame = try await isSame(asset, file)
                    if isSame == true { continue }
                    // In a draft of our own, what can't be read may be the part that an attempt before has left.
                    let isPart = isSame == nil || asset.state == "starter" || asset.size < file.bytes
                    guard mayChange, isPart, !isLast else {
                        if isSame != nil { throw conflict("\(file.name) is there with other bytes") }
                        throw DeliveryProblem(.unreachable, "\(file.name) is listed there, but can't be read yet")
                    }
                    try await session.delete(service.deletePath(asset, of: found))
                } else {
                    guard mayChange else { throw conflict("\(file.name) is missing there") }
                    guard !isLast else {
                        throw DeliveryProblem(.unreachable, "\(file.name) was uploaded and is not shown there")
                    }
                }
                let made = try await orLookAgain { try await service.upload(file, to: found) }
                // The answer says that the forge has these bytes, so they need not be read once more.
                if made.size == file.bytes { try await progress.set("asset \(made.id)", to: file.sha256) }
                isUploaded = true
                say("\(file.name) is uploaded: \(file.bytes) bytes")
            }
            if !isUploaded { break }
        }
    }

    /// Has the next attempt look again where the forge says that something is there already.
    private func orLookAgain<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as ForgeError
            where error.status == 409
            || (error.status == 422 && error.description.replacing("_", with: " ").contains("already exists"))
        {
            throw DeliveryProblem(.unreachable, PublishedName.shown(error.description))
        }
    }

    private func conflict(_ what: String) -> DeliveryProblem {
        DeliveryProblem(
            .conflict,
            "release \(release.tag) is not the one to publish: \(what); a version is never replaced, so release a new one"
        )
    }

    /// Whether an asset has the bytes of the file; nil if its content can't be read.
    private func isSame(_ asset: ForgeAsset, _ file: ReleaseFile) async throws -> Bool? {
        guard asset.state == nil || asset.state == "uploaded", asset.size == file.bytes else { return false }
        if let digest = asset.digest { return digest == "sha256:\(file.sha256)" }
        // Without a digest it is read once, and noted.
        let key = "asset \(asset.id)"
        if try await progress.value(key) == file.sha256 { return true }
        guard let address = service.address(of: asset), session.isOwn(address) else {
            throw DeliveryProblem(
                .invalid, "the forge gives no address of its own for \(file.name), so it can't be checked")
        }
        guard let content = try await session.content(at: address, most: file.bytes) else { return nil }
        guard content.sha256 == file.sha256 else { return false }
        try await progress.set(key, to: file.sha256)
        return true
    }
}
