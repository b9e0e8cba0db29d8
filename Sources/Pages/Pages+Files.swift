import Concurrency
import Control
import PageMarkup
import Results

/// Files to download: those of releases, and artifacts of runs.
extension Pages {
    /// The page of the latest release, under its own address.
    func latest(_ request: PageRequest) async throws -> PageResponse {
        .seeOther(
            PageRequest.target(["releases", request.path[1], try await views.latest(of: request.path[1]).version]))
    }

    /// `/releases/app/1.2.0/files/NAME`
    func releaseFile(_ request: PageRequest) async throws -> PageResponse {
        let (repository, version, name) = (request.path[1], request.path[2], request.path[4])
        let release = try await views.known(version, of: repository)
        guard release.state != .yanked else {
            throw PageProblem(.refused, "\(version) was withdrawn\(release.reason.map { ": \($0)" } ?? "")")
        }
        guard release.fileNames.contains(name) else {
            throw PageProblem(.notFound, "\(version) has no file \"\(name)\"")
        }
        return try await file(name, at: "\(try await views.host.detail(release).folder)/\(name)")
    }

    /// `/runs/7/artifacts/SHA256/NAME`
    func artifact(_ request: PageRequest) async throws -> PageResponse {
        let (run, sha256, name) = (try views.id(request.path[1]), request.path[3], request.path[4])
        let isOver = try await views.host.run(run).summary.state == .ended
        let artifacts = isOver ? try await views.host.report(run).artifacts : []
        guard artifacts.contains(where: { $0.sha256 == sha256 && $0.name == name }) else {
            throw PageProblem(.notFound, "run \(run) has no such artifact")
        }
        return try await file(name, at: views.host.artifact(sha256))
    }

    /// A file as a browser saves it: it is never shown, whatever is in it.
    private func file(_ name: String, at path: String?) async throws -> PageResponse {
        guard let path, let file = try await offThread({ OpenedFile(path) }) else {
            throw PageProblem(.notFound, "\(name) is not stored any more")
        }
        var response = PageResponse(type: "application/octet-stream", [])
        // Programs that don't know the second form take the first. https://www.rfc-editor.org/rfc/rfc6266
        let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-._+~@".contains($0)) ? $0 : "_" })
        response.headers["content-disposition"] =
            "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(PageAddress.part(name))"
        response.body = .stream(RawBytes(content: .output(file)))
        return response
    }
}

extension ArtifactRecord {
    /// Without folders.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}

extension ReleaseRecord {
    /// The names of the files that can be had. Those of its seal are there once publishing has begun.
    var fileNames: [String] {
        let sealing = state == .draft ? [] : ["NOTES.md"] + (keys?.isEmpty == false ? ["release.json"] : [])
        return files.map(\.name) + sealing
    }
}
