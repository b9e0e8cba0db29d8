package import AsyncHTTPClient
package import Delivery
import Foundation
import Results
package import Pipeline

/// Brings a release's app to TestFlight, through App Store Connect, from any system.
package struct TestFlightPublisher: Publisher {
    private let options: TestFlight
    private let client: AppStoreClient

    /// - Parameters:
    ///   - key: The text of the API key's `.p8` file.
    ///   - http: With ``configuration``.
    ///   - root: Where the API is; tests have another one.
    /// - Throws: ``DeliveryProblem`` with `.refused` if the key can't be read.
    package init(
        _ options: TestFlight, key: String, http: HTTPClient, root: String? = nil, pauses: AppStorePauses = .init()
    ) throws {
        self.options = options
        client = try AppStoreClient(options, key: key, http: http, root: root, pauses: pauses)
    }

    /// How its requests are sent.
    package static var configuration: HTTPClient.Configuration { AppStoreClient.configuration }

    package func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        do {
            return try await bring(release, progress, say)
        } catch let error as AppStoreError {
            throw error.problem
        }
    }

    package func state(of release: ReleaseContent) async throws -> PublicationStanding? {
        do {
            let app = try await client.app(options.app)
            // A build that could not be processed stays as it is.
            guard case .ready(let build) = try await look(nil, release, app, { _ in }) else { return nil }
            let testing = BuildTesting(client: client, app: app, options: options, say: { _ in })
            return try await testing.standing(build, try await testing.groups())
        } catch let error as AppStoreError {
            throw error.problem
        }
    }

    private func bring(
        _ release: ReleaseContent, _ progress: any PublishingProgress, _ say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        let file = try file(of: release)
        let app = try await client.app(options.app)
        let testing = BuildTesting(client: client, app: app, options: options, say: say)
        // A group that does not exist is said before anything is uploaded.
        let groups = try await testing.groups()
        let uploader = BuildUploader(
            client: client, app: app, platform: options.platform, progress: progress, say: say)
        let upload = try await uploader.upload(release, file)
        let page = "https://appstoreconnect.apple.com/apps/\(AppStoreRequest.part(app))/testflight"
        let build: String
        switch try await processed(upload, release, app, say) {
        case .ready(let id): build = id
        case .refused(let reason): return Publication(state: .refused, reason: reason, address: page)
        }
        try await testing.describe(build, release.notes)
        try await progress.confirm()
        try await testing.give(build, to: groups)
        try await testing.expire(except: build)
        let standing = try await testing.standing(build, groups)
        if standing.state != .refused, let reason = standing.reason { say(reason) }
        let link = groups.lazy.map(\.attributes).first { $0.publicLinkEnabled == true }?.publicLink
        return Publication(
            state: standing.state, reason: standing.reason, address: link.flatMap(Self.testFlightLink) ?? page,
            install: "TestFlight: \(release.marketingVersion) (\(release.buildNumber))")
    }

    /// A public link, if it is one of TestFlight.
    private static func testFlightLink(_ text: String) -> String? {
        text.hasPrefix("https://testflight.apple.com/") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } ? text : nil
    }

    private func file(of release: ReleaseContent) throws -> ReleaseFile {
        let form = options.ending
        let found = release.files.filter { $0.name.hasSuffix(form) }
        guard let file = found.first, found.count == 1 else {
            let names = found.isEmpty ? "none" : found.map(\.name).joined(separator: ", ")
            throw DeliveryProblem(
                .invalid,
                "TestFlight takes one file that ends in \(form) for \(options.platform.plain(20)); the release has "
                    + "\(names). Let the export step make it an artifact, and name it in files: of the release.")
        }
        guard file.bytes > 0 else { throw DeliveryProblem(.invalid, "\(file.name) is empty. Look at the export step.") }
        return file
    }

    // MARK: Processing

    /// What came of a build when Apple processed it.
    private enum Processed {
        /// The build's id.
        case ready(String)
        /// Why Apple takes it no further, with the next step.
        case refused(String)
    }

    /// Waits until Apple has processed the upload.
    private func processed(
        _ upload: String?, _ release: ReleaseContent, _ app: String, _ say: @Sendable (String) -> Void
    ) async throws -> Processed {
        let end = ContinuousClock.now + client.pauses.processing
        var pause = client.pauses.look
        var said = false
        while true {
            if let processed = try await look(upload, release, app, say) { return processed }
            if !said { say("Apple processes the build.") }
            said = true
            guard ContinuousClock.now < end else {
                throw DeliveryProblem(
                    .unreachable,
                    "Apple has not processed build \(release.buildNumber) within \(client.pauses.processing). Run the step "
                        + "again: it goes on waiting, and uploads nothing.")
            }
            try await client.pauses.sleep(pause)
            pause = min(client.pauses.longestLook, pause + pause / 2)
        }
    }

    private struct Build: Decodable, Sendable {
        var processingState: String?
    }

    /// What came of the build; nil if Apple still processes it.
    private func look(
        _ upload: String?, _ release: ReleaseContent, _ app: String, _ say: @Sendable (String) -> Void
    ) async throws -> Processed? {
        var known: String?
        if let upload {
            let found = try await client.one(
                .get("/v1/buildUploads/\(AppStoreRequest.part(upload))", ["include": "build"]), BuildUpload.self)
            if found.attributes.hasFailed {
                let errors = (found.attributes.state?.errors ?? []).map(\.words).filter { !$0.isEmpty }
                return .refused(
                    "Apple could not process build \(release.buildNumber): "
                        + (errors.isEmpty ? "it gave no reason" : errors.prefix(10).joined(separator: "; "))
                        + ". Mend it and release another commit, or run the step again to upload the same file.")
            }
            guard found.attributes.isComplete else { return nil }
            for warning in (found.attributes.state?.warnings ?? []).prefix(10) { say("Apple warns: \(warning.words)") }
            known = found.ids("build").first
        }
        let builds = try await client.all(
            .get(
                "/v1/builds",
                [
                    "filter[app]": app, "filter[version]": String(release.buildNumber),
                    "filter[preReleaseVersion.version]": release.marketingVersion,
                    "filter[preReleaseVersion.platform]": options.platform, "limit": "200",
                ]), Build.self)
        guard let build = builds.first(where: { known == nil || $0.id == known }) else { return nil }
        switch build.attributes.processingState {
        case "VALID": return .ready(build.id)
        case "FAILED", "INVALID":
            return .refused(
                "Apple marks build \(release.buildNumber) as \(build.attributes.processingState ?? ""). App Store Connect, "
                    + "TestFlight, says why. Mend it and release another commit.")
        default: return nil
        }
    }
}
