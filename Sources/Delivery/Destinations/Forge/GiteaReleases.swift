import ForgeConnection
import Foundation
import SystemPackage

/// Releases at Gitea and Forgejo. Source: https://docs.gitea.com/api and https://codeberg.org/api/swagger
struct GiteaReleases: ForgeReleaseService {
    let session: ForgeSession
    let asksForLatest = false

    func comparable(_ name: String) -> String { name }

    func commit(ofTag tag: String) async throws -> String? {
        struct Tag: Decodable, Sendable {
            var commit: Commit
            struct Commit: Decodable, Sendable { var sha: String }
        }
        let name = tag.split(separator: "/").map { ForgeRequest.part(String($0)) }.joined(separator: "/")
        // Of an annotated tag, this is the commit that it names.
        return try await session.found("\(session.project)/tags/\(name)", Tag.self)?.commit.sha
    }

    /// This list has no pages.
    func assets(of release: ForgeRelease) async throws -> [ForgeAsset] {
        try await session.found("\(session.project)/releases/\(release.id)/assets", [ForgeAsset].self) ?? []
    }

    func upload(_ file: ReleaseFile, to release: ForgeRelease) async throws -> ForgeAsset {
        // A form, which all versions take.
        let boundary = "pipectl-\(UUID().uuidString)"
        let before =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"\(file.name)\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n"
        let content = FileBytes(
            FilePath(file.path), length: file.bytes, before: Array(before.utf8),
            after: Array("\r\n--\(boundary)--\r\n".utf8))
        return try await session.send(
            ForgeRequest(
                method: .post, path: "\(session.project)/releases/\(release.id)/assets", query: ["name": file.name],
                upload: ForgeUpload(content, type: "multipart/form-data; boundary=\(boundary)"))
        ).decode(ForgeAsset.self)
    }

    func address(of asset: ForgeAsset) -> String? { asset.browserDownloadUrl }

    func deletePath(_ asset: ForgeAsset, of release: ForgeRelease) -> String {
        "\(session.project)/releases/\(release.id)/assets/\(asset.id)"
    }
}
