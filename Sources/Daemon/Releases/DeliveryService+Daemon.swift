import AppStore
import Archive
import AsyncHTTPClient
import DaemonLog
import Delivery
import ForgeConnection
import Logging
import Pipeline
import Preparing
import Results
import Running
import StateFiles
import Store
import SystemPackage
import Watching

extension DeliveryService {
    /// The deliveries of this daemon.
    init(_ state: OpenState, _ repositories: KnownRepositories) {
        let store = state.archive
        let (index, credentials) = (state.index, ForgeCredentialStore(folder: FilePath(state.folder.forges)))
        let destinations = Destinations(
            work: Self.work(state.folder),
            connection: { try await ForgeAccess(of: $0, in: index, credentials) },
            testFlight: { TestFlightDelivery(options: $0, key: String(decoding: $1, as: UTF8.self)) })
        self.init(
            index: state.index, folders: ReleaseFolders(state.folder.releases),
            sources: RepositoryReleaseSources(repositories: repositories, index: state.index),
            artifact: { store.artifact($0) },
            publishers: { try await destinations.publisher(for: $0, of: $1, secrets: $2) })
    }

    private static func work(_ folder: StateFolder) -> String { folder.path + "/delivery" }

    /// Removes what a daemon that was killed has left. The state folder is locked.
    func removeLeft(_ folder: StateFolder, log: Logger) async {
        do {
            let count = try await removeLeft(work: Self.work(folder))
            guard count > 0 else { return }
            log.notice(
                "removed \(count) folders of releases, left by a pipectl that was killed",
                metadata: .code(.leftoversRemoved))
        } catch {
            log.warning(
                "what a killed pipectl has left of releases, such as their keys, can't be removed: \(error)",
                metadata: .code(.leftoversRemoved))
        }
    }
}

/// Brings releases to TestFlight, with connections that are closed afterwards.
private struct TestFlightDelivery: Publisher {
    let options: TestFlight
    let key: String

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try await use { try await $0.publish(release, progress: progress, say: say) }
    }

    func check() async throws { try await use { _ in } }

    func state(of release: ReleaseContent) async throws -> PublicationStanding? {
        try await use { try await $0.state(of: release) }
    }

    private func use<Value: Sendable>(_ body: (TestFlightPublisher) async throws -> Value) async throws -> Value {
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: TestFlightPublisher.configuration)
        do {
            let value = try await body(TestFlightPublisher(options, key: key, http: http))
            try? await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}
