import ForgeConnection
import Foundation
import Results
import SystemPackage

/// The generic packages of a forge: files below a name and a version.
protocol GenericPackages: Sendable {
    var session: ForgeSession { get }
    /// The files of a version, as often as they were uploaded.
    func files(_ version: String) async throws -> [PackagedFile]
    /// Removes a version with all of its files.
    func remove(_ version: String) async throws
    func address(of file: ReleaseFile, version: String) -> String
    func page(_ version: String) -> String
}

/// A file in a package, as a forge shows it.
struct PackagedFile: Sendable {
    var name: String
    var bytes: Int
    /// Lower-case hex; nil where the forge does not say.
    var sha256: String?
}

extension GenericPackages {
    /// The files of the release that are not there.
    ///
    /// - Throws: ``DeliveryProblem`` with `.conflict` where one is there with other bytes.
    func missing(_ release: ReleaseContent) async throws -> [ReleaseFile] {
        try release.missing(among: try await files(release.version))
    }

    /// Uploads what is missing.
    ///
    /// A forge may keep the part of a file whose upload was cut. Neither forge replaces a file, so the version is then
    /// removed and uploaded again, if it was begun here and has never been whole.
    func upload(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @Sendable (String) -> Void
    ) async throws {
        for file in try await look(release, progress) {
            // Each file is visible as soon as it is there.
            try await progress.confirm()
            do {
                _ = try await session.send(
                    ForgeRequest(
                        method: .put, path: "", upload: ForgeUpload(FileBytes(FilePath(file.path), length: file.bytes)),
                        address: address(of: file, version: release.version)))
            } catch let error as ForgeError where error.status == 409 {
                throw DeliveryProblem(.unreachable, "\(file.name) was uploaded meanwhile; looking again")
            }
            say("\(file.name) is uploaded: \(file.bytes) bytes")
        }
        guard try await look(release, progress).isEmpty else {
            throw DeliveryProblem(.unreachable, "the forge took the files and does not show them yet")
        }
        // It is whole now, and never removed from here on.
        try await progress.set(begun, to: nil)
    }

    /// The files that are missing. A version of which nothing is there is noted as begun; parts of one are removed.
    private func look(_ release: ReleaseContent, _ progress: any PublishingProgress) async throws -> [ReleaseFile] {
        let there = try await files(release.version)
        if there.isEmpty { try await progress.set(begun, to: release.version) }
        do { return try release.missing(among: there) } catch {
            guard try await progress.value(begun) == release.version, release.isPart(there) else { throw error }
            try await remove(release.version)
            throw DeliveryProblem(
                .unreachable,
                "an interrupted upload has left a part of a file, so the packages of version \(release.version), which this step had begun, were removed; uploading them again"
            )
        }
    }

    /// The note of a version whose first file was not there when this step began.
    private var begun: String { "packages begun" }
}

extension ReleaseContent {
    /// - Throws: ``DeliveryProblem`` with `.conflict` where a file is there with other bytes.
    fileprivate func missing(among there: [PackagedFile]) throws -> [ReleaseFile] {
        try files.filter { file in
            let same = there.filter { $0.name == file.name }
            guard same.allSatisfy({ $0.isSame(as: file) }) else {
                throw DeliveryProblem(
                    .conflict,
                    "\(file.name) is in the packages of version \(version) with other bytes; release a new version")
            }
            return same.isEmpty
        }
    }

    /// Whether there is nothing but files of the release, whole or cut.
    fileprivate func isPart(_ there: [PackagedFile]) -> Bool {
        there.allSatisfy { one in
            files.contains { $0.name == one.name && (one.isSame(as: $0) || one.bytes < $0.bytes) }
        }
    }
}

extension PackagedFile {
    fileprivate func isSame(as file: ReleaseFile) -> Bool {
        bytes == file.bytes && (sha256 ?? file.sha256) == file.sha256
    }
}

/// Source: https://docs.gitlab.com/user/packages/generic_packages/
struct GitLabPackages: GenericPackages {
    let session: ForgeSession
    let name: String

    private struct Package: Decodable, Sendable { var id: Int, name: String, version: String? }

    private func packages(_ version: String) async throws -> [Package] {
        // The filter for a name finds longer names, too.
        try await session.pages(
            "\(session.project)/packages",
            ["package_type": "generic", "package_name": name, "package_version": version], of: Package.self
        ).filter { $0.name == name && $0.version == version }
    }

    func files(_ version: String) async throws -> [PackagedFile] {
        struct File: Decodable, Sendable { var fileName: String, size: Int, fileSha256: String? }
        var found: [PackagedFile] = []
        for package in try await packages(version) {
            found += try await session.pages("\(session.project)/packages/\(package.id)/package_files", of: File.self)
                .map { PackagedFile(name: $0.fileName, bytes: $0.size, sha256: $0.fileSha256) }
        }
        return found
    }

    func remove(_ version: String) async throws {
        for package in try await packages(version) {
            try await session.delete("\(session.project)/packages/\(package.id)")
        }
    }

    func address(of file: ReleaseFile, version: String) -> String {
        let parts = [name, version, file.name].map(ForgeRequest.part).joined(separator: "/")
        return "\(session.address.api)\(session.project)/packages/generic/\(parts)"
    }

    func page(_ version: String) -> String { "\(session.address.web)/-/packages" }
}

/// Source: https://docs.gitea.com/usage/packages/generic
struct GiteaPackages: GenericPackages {
    let session: ForgeSession
    let name: String

    private var owner: String { String(session.address.project.split(separator: "/").first ?? "") }

    func files(_ version: String) async throws -> [PackagedFile] {
        struct File: Decodable, Sendable { var name: String, size: Int, sha256: String? }
        let found = try await session.found("\(path(version))/files", [File].self) ?? []
        return found.map { PackagedFile(name: $0.name, bytes: $0.size, sha256: $0.sha256) }
    }

    func remove(_ version: String) async throws { try await session.delete(path(version)) }

    private func path(_ version: String) -> String {
        "/packages/" + [owner, "generic", name, version].map(ForgeRequest.part).joined(separator: "/")
    }

    /// Uploads are beside the API, not below it.
    func address(of file: ReleaseFile, version: String) -> String {
        let api = session.address.api
        let root = api.hasSuffix("/v1") ? String(api.dropLast(3)) : api
        let parts = [owner, "generic", name, version, file.name].map(ForgeRequest.part).joined(separator: "/")
        return "\(root)/packages/\(parts)"
    }

    func page(_ version: String) -> String {
        let root = session.address.web.dropLast(session.address.project.count)
        return "\(root)\(owner)/-/packages/generic/\(ForgeRequest.part(name))/\(ForgeRequest.part(version))"
    }
}

/// Publishes into the generic packages of the connected forge.
struct PackagesPublisher: Publisher {
    let access: ForgeAccess
    let name: String
    var patience = Patience()

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        guard name.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9._+\-]*/) != nil else {
            throw DeliveryProblem(.invalid, "\"\(PublishedName.shown(name))\" can't be the name of a package")
        }
        return try await access.use { session in
            let packages: any GenericPackages =
                switch session.address.kind {
                case .gitlab: GitLabPackages(session: session, name: name)
                case .gitea, .forgejo: GiteaPackages(session: session, name: name)
                case .github:
                    throw DeliveryProblem(
                        .invalid,
                        "GitHub has no generic packages; publish to .forge() or .registry(repository: \"https://ghcr.io/…\")"
                    )
                }
            return try await patience.run(say: say) {
                try await packages.upload(release, progress: progress, say: say)
                return Publication(state: .released, address: packages.page(release.version))
            }
        }
    }
}
