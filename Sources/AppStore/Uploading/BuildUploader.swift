import Delivery
import Foundation
import NIOHTTP1

/// Brings a build's file to Apple, once.
struct BuildUploader: Sendable {
    let client: AppStoreClient
    let app: String
    let platform: String
    let progress: any PublishingProgress
    let say: @Sendable (String) -> Void

    /// The upload of this marketing version and build number, with the whole file. What an earlier call has begun is continued.
    ///
    /// - Returns: The upload's id; nil if the build is there, but was not uploaded through this API.
    func upload(_ release: ReleaseContent, _ file: ReleaseFile) async throws -> String? {
        let number = String(release.buildNumber)
        if let noted = try await progress.value(UploadNotes.upload), try await isFailed(noted) {
            // Whoever repeats the step after an error of processing wants another try.
            try await forget()
        }
        let version = release.marketingVersion
        let uploads = try await uploads(version, number)
        if let there = uploads.first(where: { !$0.attributes.isAwaitingUpload && !$0.attributes.hasFailed }) {
            try await compare(there.id, file)
            return there.id
        }
        if uploads.isEmpty, try await hasBuild(version, number) {
            say("Build \(number) is there already, from another tool, so its bytes can't be compared.")
            return nil
        }
        let upload = try await reserve(release, number, file)
        try await fill(upload, file)
        return upload
    }

    /// Forgets the upload, so that the next call begins a new one.
    func forget() async throws {
        try await progress.set(UploadNotes.parts, to: nil)
        try await progress.set(UploadNotes.upload, to: nil)
    }

    // MARK: What is there

    private func uploads(_ version: String, _ number: String) async throws -> [AppStoreResource<BuildUpload>] {
        try await client.all(
            .get(
                "/v1/apps/\(AppStoreRequest.part(app))/buildUploads",
                [
                    "filter[cfBundleShortVersionString]": version, "filter[cfBundleVersion]": number,
                    "filter[platform]": platform, "limit": "200",
                ]), BuildUpload.self
        )
        // Only an upload of exactly this build may be continued, whatever the filters find.
        .filter { $0.attributes.cfBundleShortVersionString == version && $0.attributes.cfBundleVersion == number }
    }

    private func isFailed(_ upload: String) async throws -> Bool {
        do {
            return try await client.one(.get("/v1/buildUploads/\(AppStoreRequest.part(upload))"), BuildUpload.self)
                .attributes.hasFailed
        } catch let error as AppStoreError where error.code == .notFound {
            return true
        }
    }

    private func hasBuild(_ version: String, _ number: String) async throws -> Bool {
        let builds = try await client.all(
            .get(
                "/v1/builds",
                [
                    "filter[app]": app, "filter[version]": number, "filter[preReleaseVersion.version]": version,
                    "filter[preReleaseVersion.platform]": platform, "limit": "1",
                ]), NoAttributes.self)
        return !builds.isEmpty
    }

    private func files(of upload: String) async throws -> [AppStoreResource<BuildUploadFile>] {
        try await client.all(
            .get("/v1/buildUploads/\(AppStoreRequest.part(upload))/buildUploadFiles", ["limit": "200"]),
            BuildUploadFile.self)
    }

    /// A version is never replaced.
    private func compare(_ upload: String, _ file: ReleaseFile) async throws {
        guard let asset = try await files(of: upload).first(where: { $0.attributes.assetType == "ASSET" })?.attributes
        else { return }
        let sum = asset.sourceFileChecksums?.file
        let differs =
            asset.fileSize.map { $0 != file.bytes } == true
            || sum?.algorithm == "SHA_256" && sum?.hash.map { $0.lowercased() != file.sha256 } == true
        if differs {
            throw DeliveryProblem(
                .conflict,
                "App Store Connect has this version and build number with another file. A build is never replaced: make "
                    + "the next build of another commit.")
        }
    }

    // MARK: Reservation

    private func reserve(_ release: ReleaseContent, _ number: String, _ file: ReleaseFile) async throws -> String {
        let noted = try await progress.value(UploadNotes.upload)
        let upload = try await client.findOrMake {
            // One that was begun before a crash, before it could be noted, has no file, or the same.
            for upload in try await uploads(release.marketingVersion, number) where upload.attributes.isAwaitingUpload {
                if upload.id == noted { return upload.id }
                let names = try await files(of: upload.id).map {
                    "\($0.attributes.fileName ?? "") \($0.attributes.fileSize ?? 0)"
                }
                if names.allSatisfy({ $0 == "\(file.name) \(file.bytes)" }) { return upload.id }
            }
            return nil
        } make: {
            let draft = BuildUpload.Draft(
                cfBundleShortVersionString: release.marketingVersion, cfBundleVersion: number, platform: platform)
            return try await client.one(
                .make(
                    "/v1/buildUploads",
                    AppStoreDraft("buildUploads", draft, to: ["app": AppStoreReference("apps", app)])),
                BuildUpload.self
            ).id
        }
        if upload != noted { try await progress.set(UploadNotes.upload, to: upload) }
        return upload
    }

    private func reserveFile(_ upload: String, _ file: ReleaseFile) async throws -> AppStoreResource<BuildUploadFile> {
        try await client.findOrMake {
            try await files(of: upload).first { $0.attributes.assetType == "ASSET" }
        } make: {
            let draft = BuildUploadFile.Draft(
                fileName: file.name, fileSize: file.bytes,
                uti: file.name.hasSuffix(".pkg") ? "com.apple.pkg" : "com.apple.ipa")
            return try await client.one(
                .make(
                    "/v1/buildUploadFiles",
                    AppStoreDraft(
                        "buildUploadFiles", draft, to: ["buildUpload": AppStoreReference("buildUploads", upload)])),
                BuildUploadFile.self)
        }
    }

    // MARK: Bytes

    private func fill(_ upload: String, _ file: ReleaseFile) async throws {
        let reserved = try await reserveFile(upload, file)
        guard !reserved.attributes.isThere else { return }
        let operations = reserved.attributes.uploadOperations ?? []
        if operations.contains(where: { $0.hasExpired(at: Date()) })
            || reserved.attributes.assetDeliveryState?.state == "FAILED"
        {
            try await client.send(.delete("/v1/buildUploads/\(AppStoreRequest.part(upload))"))
            try await forget()
            throw AppStoreError(.unavailable, "the upload that was begun can't be continued, and was removed")
        }
        say("Uploading \(file.name), \(file.bytes) bytes in \(operations.count) parts.")
        try await PartUploader(client: client, id: reserved.id, progress: progress).upload(file, operations)
        let commit = BuildUploadFile.Commit(
            sourceFileChecksums: .init(file: .init(hash: file.sha256, algorithm: "SHA_256")))
        do {
            try await client.send(
                .change(
                    .PATCH, "/v1/buildUploadFiles/\(AppStoreRequest.part(reserved.id))",
                    AppStoreDraft("buildUploadFiles", id: reserved.id, commit)))
        } catch let error as AppStoreError where error.code == .conflict {
            // Notes and Apple disagree about what is there: the next attempt sends all parts again.
            try await progress.set(UploadNotes.parts, to: nil)
            throw AppStoreError(.unavailable, error.description)
        }
    }
}
