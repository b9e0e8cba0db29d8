import Delivery
import Results
import Foundation
import NIOHTTP1
import Pipeline

/// Gives a build that Apple has processed to its testers.
struct BuildTesting: Sendable {
    let client: AppStoreClient
    let app: String
    let options: TestFlight
    let say: @Sendable (String) -> Void

    /// A group of testers.
    struct Group: Decodable, Sendable {
        var name: String?
        var isInternalGroup: Bool?
        /// Such a group gets each build by itself, and can be given none.
        var hasAccessToAllBuilds: Bool?
        var publicLinkEnabled: Bool?
        var publicLink: String?
    }

    /// The groups that the workflow names.
    ///
    /// - Throws: ``DeliveryProblem`` with `.invalid` that lists those there are, if one is missing.
    func groups() async throws -> [AppStoreResource<Group>] {
        guard !options.groups.isEmpty else { return [] }
        let all = try await client.all(.get("/v1/betaGroups", ["filter[app]": app, "limit": "200"]), Group.self)
        return try options.groups.map { name in
            guard let group = all.first(where: { $0.attributes.name == name }) else {
                let names = all.compactMap(\.attributes.name).sorted().map { "\"\($0.plain(100))\"" }
                let there = names.isEmpty ? "The app has none" : "There are: \(names.joined(separator: ", "))"
                throw DeliveryProblem(
                    .invalid,
                    "TestFlight has no group \"\(name.plain(100))\" for \(options.app.plain(200)). \(there). Make it in App "
                        + "Store Connect, or correct groups: in the workflow.")
            }
            return group
        }
    }

    // MARK: Notes

    func describe(_ build: String, _ notes: String) async throws {
        struct Localization: Codable, Sendable {
            var whatsNew: String?
            var locale: String?
        }
        let text = TesterNotes.plain(notes)
        guard !text.isEmpty else { return }
        let found = try await client.findOrMake {
            try await client.all(
                .get(
                    "/v1/betaBuildLocalizations",
                    ["filter[build]": build, "filter[locale]": options.locale, "limit": "200"]),
                Localization.self
            ).first
        } make: {
            try await client.one(
                .make(
                    "/v1/betaBuildLocalizations",
                    AppStoreDraft(
                        "betaBuildLocalizations", Localization(whatsNew: text, locale: options.locale),
                        to: ["build": AppStoreReference("builds", build)])), Localization.self)
        }
        guard found.attributes.whatsNew != text else { return }
        try await client.send(
            .change(
                .PATCH, "/v1/betaBuildLocalizations/\(AppStoreRequest.part(found.id))",
                AppStoreDraft("betaBuildLocalizations", id: found.id, Localization(whatsNew: text))))
    }

    // MARK: Groups

    func give(_ build: String, to groups: [AppStoreResource<Group>]) async throws {
        guard !groups.isEmpty else { return }
        let there = try await client.all(
            .get("/v1/betaGroups", ["filter[builds]": build, "limit": "200"]), Group.self)
        let missing = groups.filter { group in
            group.attributes.hasAccessToAllBuilds != true && !there.contains { $0.id == group.id }
        }
        guard !missing.isEmpty else { return }
        try await client.send(
            .change(
                .POST, "/v1/builds/\(AppStoreRequest.part(build))/relationships/betaGroups",
                AppStoreLinks(data: missing.map { AppStoreReference("betaGroups", $0.id) })))
        say("Given to \(missing.compactMap(\.attributes.name).map { $0.plain(100) }.joined(separator: ", ")).")
    }

    // MARK: State

    private struct Detail: Decodable, Sendable {
        var internalBuildState: String?
        var externalBuildState: String?
    }

    /// How far testers have the build. External groups get it after Apple's review, which is asked for here.
    func standing(_ build: String, _ groups: [AppStoreResource<Group>]) async throws -> PublicationStanding {
        guard
            let detail = try await client.all(
                .get("/v1/buildBetaDetails", ["filter[build]": build, "limit": "1"]), Detail.self
            ).first?.attributes
        else { return PublicationStanding(.processing) }
        let isExternal = groups.contains { $0.attributes.isInternalGroup == false }
        var state = (isExternal ? detail.externalBuildState : detail.internalBuildState) ?? "PROCESSING"
        if isExternal, state == "READY_FOR_BETA_SUBMISSION" {
            try await submit(build)
            state = "WAITING_FOR_BETA_REVIEW"
        }
        switch state {
        case "IN_BETA_TESTING", "READY_FOR_BETA_TESTING", "BETA_APPROVED": return PublicationStanding(.testing)
        case "WAITING_FOR_BETA_REVIEW", "IN_BETA_REVIEW":
            say("External testers get the build when Apple has reviewed it.")
            return PublicationStanding(.processing)
        case "IN_EXPORT_COMPLIANCE_REVIEW":
            say("Apple checks the papers about encryption.")
            return PublicationStanding(.processing)
        case "MISSING_EXPORT_COMPLIANCE":
            return PublicationStanding(
                .processing,
                because:
                    "Apple waits for an answer about encryption before anybody can test the build. Answer it in App "
                    + "Store Connect, or set ITSAppUsesNonExemptEncryption in the app's Info.plist for all further builds."
            )
        case "BETA_REJECTED":
            return PublicationStanding(
                .refused,
                because: "Apple has rejected the build for external testers. App Store Connect says why; mend it and "
                    + "release another commit, or submit the build there again.")
        case "PROCESSING_EXCEPTION":
            return PublicationStanding(
                .refused,
                because:
                    "Apple could not process the build. App Store Connect, TestFlight, says why; mend it and release "
                    + "another commit.")
        case "EXPIRED":
            return PublicationStanding(
                .refused, because: "The build has expired, and testers can't install it. Release another commit.")
        default: return PublicationStanding(.processing)
        }
    }

    private func submit(_ build: String) async throws {
        do {
            let none: NoAttributes? = nil
            let draft = AppStoreDraft(
                "betaAppReviewSubmissions", none, to: ["build": AppStoreReference("builds", build)])
            try await client.send(.change(.POST, "/v1/betaAppReviewSubmissions", draft))
        } catch let error as AppStoreError where error.code == .conflict {
            // It was submitted before. If it can't be, App Store Connect shows why.
            say("The build was not submitted for review: \(error.description)")
        }
    }

    // MARK: Older builds

    private struct Build: Codable, Sendable {
        var version: String?
        var expired: Bool?
    }

    /// Those that are older than a build and not among the newest. Newer ones stay, also when the step of an older release
    /// is repeated.
    ///
    /// - Parameter builds: Newest first.
    static func unwanted(_ builds: [String], keeping most: Int, and build: String) -> Set<String> {
        guard let place = builds.firstIndex(of: build) else { return [] }
        return Set(builds[(place + 1)...].dropFirst(max(0, most - 1 - place)))
    }

    /// Ends the availability of builds that are older than this one and beyond the number that is kept.
    func expire(except build: String) async throws {
        guard let most = options.keepsBuilds else { return }
        let builds = try await client.all(
            .get(
                "/v1/builds",
                [
                    "filter[app]": app, "filter[expired]": "false",
                    "filter[preReleaseVersion.platform]": options.platform,
                    "sort": "-uploadedDate", "limit": "200",
                ]), Build.self)
        let unwanted = Self.unwanted(builds.map(\.id), keeping: most, and: build)
        for old in builds where unwanted.contains(old.id) {
            try await client.send(
                .change(
                    .PATCH, "/v1/builds/\(AppStoreRequest.part(old.id))",
                    AppStoreDraft("builds", id: old.id, Build(expired: true))))
            say("Build \((old.attributes.version ?? old.id).plain(100)) is no longer available to testers.")
        }
    }
}
