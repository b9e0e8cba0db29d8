import ForgeConnection
import SystemPackage

/// Releases at GitHub. Source: https://docs.github.com/en/rest/releases
struct GitHubReleases: ForgeReleaseService {
    let session: ForgeSession
    let asksForLatest = true

    /// GitHub replaces some characters by dots, and does not say which.
    func comparable(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "." })
    }

    func commit(ofTag tag: String) async throws -> String? {
        struct Ref: Decodable, Sendable {
            var object: Object
            struct Object: Decodable, Sendable { var sha: String, type: String }
        }
        let name = tag.split(separator: "/").map { ForgeRequest.part(String($0)) }.joined(separator: "/")
        guard let ref = try await session.found("\(session.project)/git/ref/tags/\(name)", Ref.self) else { return nil }
        guard ref.object.type == "tag" else { return ref.object.sha }
        // An annotated tag names a commit.
        return try await session.found(
            "\(session.project)/git/tags/\(ForgeRequest.part(ref.object.sha))", Ref.self)?.object.sha
    }

    func assets(of release: ForgeRelease) async throws -> [ForgeAsset] {
        try await session.pages("\(session.project)/releases/\(release.id)/assets", of: ForgeAsset.self)
    }

    func upload(_ file: ReleaseFile, to release: ForgeRelease) async throws -> ForgeAsset {
        guard let template = release.uploadUrl, session.isOwn(template) else {
            throw ForgeError(.badAnswer, "the forge gives no upload address of its own")
        }
        let address = String(template.prefix { $0 != "{" && $0 != "?" })
        return try await session.send(
            ForgeRequest(
                method: .post, path: "/assets", query: ["name": file.name],
                upload: ForgeUpload(FileBytes(FilePath(file.path), length: file.bytes)), address: address)
        ).decode(ForgeAsset.self)
    }

    func address(of asset: ForgeAsset) -> String? { asset.url }

    func deletePath(_ asset: ForgeAsset, of release: ForgeRelease) -> String {
        "\(session.project)/releases/assets/\(asset.id)"
    }
}
