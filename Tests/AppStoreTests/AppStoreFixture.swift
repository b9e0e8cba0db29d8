import AsyncHTTPClient
import Delivery
import Foundation
import JWTKit
import Pipeline
import Synchronization
import TestForge

@testable import AppStore

/// Notes in memory.
final class MemoryProgress: PublishingProgress {
    private let values = Mutex<[String: String]>([:])
    var all: [String: String] { values.withLock { $0 } }
    func value(_ key: String) async throws -> String? { values.withLock { $0[key] } }
    func set(_ key: String, to value: String?) async throws { values.withLock { $0[key] = value } }
}

/// A list that tests and closures share.
final class Recorded<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    var all: [Element] { list.withLock { $0 } }
    func add(_ element: Element) { list.withLock { $0.append(element) } }
}

enum Fixture {
    static let key = ES256PrivateKey().pemRepresentation
    static let app =
        #"{"data":[{"type":"apps","id":"7","attributes":{"bundleId":"com.example.hello"}}],"links":{"self":"/"}}"#
    static let none = #"{"data":[],"links":{"self":"/"}}"#

    static func client(_ url: String, slept: Recorded<Duration> = Recorded()) throws -> AppStoreClient {
        var pauses = AppStorePauses()
        pauses.sleep = { slept.add($0) }
        return AppStoreClient(
            root: url, tokens: try AppStoreTokens(key: key, keyID: "KEY", issuer: "ISSUER"), http: .shared,
            pauses: pauses)
    }

    static func testFlight(_ groups: [String] = []) -> TestFlight {
        TestFlight(app: "com.example.hello", key: "APPLE_KEY", keyID: "KEY", issuer: "ISSUER", groups: groups)
    }

    static func release(_ files: [ReleaseFile]) -> ReleaseContent {
        ReleaseContent(
            repository: "hello", version: "1.1.812", marketingVersion: "1.1", buildNumber: 812, tag: "v1.1",
            commit: String(repeating: "1", count: 40),
            notes: "# 1.1\n\n- **Faster** start\n", committedAt: Date(timeIntervalSince1970: 0), files: files)
    }

    static let ipa = ReleaseFile(
        name: "Hello.ipa", path: "/nowhere/Hello.ipa", bytes: 10, sha256: String(repeating: "a", count: 64))

    /// Publishes to a double that answers as `answer` says, and returns what it was asked.
    static func publish(
        _ files: [ReleaseFile] = [ipa], groups: [String] = [], progress: MemoryProgress = MemoryProgress(),
        _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer
    ) async throws -> (result: Result<Publication, any Error>, asked: [ForgeDouble.Asked]) {
        let server = try await ForgeDouble { request in
            request.path.hasPrefix("/v1/apps?") ? .json(200, app) : answer(request)
        }
        var pauses = AppStorePauses()
        pauses.sleep = { _ in }
        let publisher = try TestFlightPublisher(
            testFlight(groups), key: key, http: .shared, root: server.url, pauses: pauses)
        let result: Result<Publication, any Error>
        do {
            result = .success(try await publisher.publish(release(files), progress: progress) { _ in })
        } catch {
            result = .failure(error)
        }
        try await server.close()
        return (result, server.requests)
    }
}

extension Result where Failure == any Error {
    /// The code of a problem of delivery.
    var problem: DeliveryProblem? {
        if case .failure(let error) = self { error as? DeliveryProblem } else { nil }
    }
}
