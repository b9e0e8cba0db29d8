package import AsyncHTTPClient
import Delivery
package import Foundation
package import Pipeline

/// Reads what testers of one app sent from TestFlight.
package struct TestFlightFeedback: Sendable {
    /// Submissions of each kind that one look reads, the newest ones.
    static let mostAtOnce = 200

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

    /// What was sent since `date`, oldest first.
    package func submissions(since date: Date) async throws -> [TestFlightSubmission] {
        try await explained {
            let app = try await client.app(options.app)
            var all: [TestFlightSubmission] = []
            for kind in TestFlightSubmission.Kind.allCases {
                let query: KeyValuePairs = [
                    "sort": "-createdDate", "include": "build", "fields[builds]": "version",
                    "limit": String(Self.mostAtOnce),
                ]
                let path = "/v1/apps/\(AppStoreRequest.part(app))/\(kind.rawValue)"
                let (found, builds) = try await client.page(.get(path, query), TestFlightSubmission.Attributes.self)
                // One that can't be read must not hide the others.
                all += found.compactMap { try? TestFlightSubmission($0, kind, builds: builds) }
            }
            return all.filter { $0.createdAt >= date }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        }
    }

    /// One submission; nil if Apple has it no more.
    package func submission(_ kind: TestFlightSubmission.Kind, _ id: String) async throws -> TestFlightSubmission? {
        try await explained {
            do {
                let path = "/v1/\(kind.rawValue)/\(AppStoreRequest.part(id))"
                let query: KeyValuePairs = ["include": "build", "fields[builds]": "version"]
                let (found, builds) = try await client.single(.get(path, query), TestFlightSubmission.Attributes.self)
                return try TestFlightSubmission(found, kind, builds: builds)
            } catch let error as AppStoreError where error.code == .notFound {
                return nil
            }
        }
    }

    /// The log of a crash; nil if Apple has none.
    package func crashLog(of submission: String) async throws -> String? {
        struct Log: Decodable, Sendable { var logText: String? }
        return try await explained {
            do {
                let path =
                    "/v1/\(TestFlightSubmission.Kind.crash.rawValue)/\(AppStoreRequest.part(submission))/crashLog"
                return try await client.one(.get(path), Log.self).attributes.logText
            } catch let error as AppStoreError where error.code == .notFound {
                return nil
            }
        }
    }

    private func explained<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            return try await body()
        } catch let error as AppStoreError {
            throw error.problem
        }
    }
}

extension AppStoreClient {
    /// The identifier of the app with this bundle identifier.
    ///
    /// - Throws: ``DeliveryProblem`` with `.invalid` if there is none that the key may see; ``AppStoreError``.
    func app(_ bundle: String) async throws -> String {
        struct App: Decodable, Sendable { var bundleId: String? }
        let apps = try await all(.get("/v1/apps", ["filter[bundleId]": bundle, "limit": "200"]), App.self)
        // Apple's filter also finds identifiers that begin with it.
        guard let app = apps.first(where: { $0.attributes.bundleId == bundle }) else {
            throw DeliveryProblem(
                .invalid,
                "App Store Connect has no app with the bundle identifier \(bundle.plain(200)) that this key may see. Make "
                    + "the app there, or correct app: in the workflow.")
        }
        return app.id
    }

    private struct Build: Decodable, Sendable { var version: String? }

    private struct WithBuilds<Content: Decodable & Sendable>: Decodable, Sendable {
        var data: Content
        var included: [AppStoreResource<Build>]?

        var builds: [String: String] {
            Dictionary(
                (included ?? []).compactMap { build in build.attributes.version.map { (build.id, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// The first page of a list, and the numbers of the builds that belong to it by their identifiers.
    fileprivate func page<A>(_ request: AppStoreRequest, _ type: A.Type) async throws -> (
        [AppStoreResource<A>], [String: String]
    ) {
        let found = try decode(WithBuilds<[AppStoreResource<A>]>.self, try await send(request))
        return (found.data, found.builds)
    }

    fileprivate func single<A>(_ request: AppStoreRequest, _ type: A.Type) async throws -> (
        AppStoreResource<A>, [String: String]
    ) {
        let found = try decode(WithBuilds<AppStoreResource<A>>.self, try await send(request))
        return (found.data, found.builds)
    }
}
