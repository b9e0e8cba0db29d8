import AsyncHTTPClient
import Delivery
import Foundation
import Pipeline
import Testing

@testable import AppStore

/// One publication at a server that checks every request against Apple's published description.
///
/// `script/app-store-check` starts the server, and this test again and again, which it kills at random moments.
@Suite(.enabled(if: StandIn.task != nil, "script/app-store-check runs this"))
struct StandInTests {
    @Test(.timeLimit(.minutes(30))) func `a release is published, or its publication is continued`() async throws {
        let task = try #require(StandIn.task)
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: TestFlightPublisher.configuration)
        do {
            let publication = try await publish(task, http)
            // The script reads it.
            try JSONEncoder().encode(publication).write(to: URL(fileURLWithPath: task.result), options: .atomic)
            try await http.shutdown()
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    private func publish(_ task: StandIn, _ http: HTTPClient) async throws -> Publication {
        var pauses = AppStorePauses()
        (pauses.first, pauses.longest, pauses.limited) = (.milliseconds(20), .milliseconds(500), .milliseconds(200))
        (pauses.look, pauses.longestLook) = (.milliseconds(100), .milliseconds(500))
        let publisher = try TestFlightPublisher(
            task.testFlight, key: task.key, http: http, root: task.server, pauses: pauses)
        let release = ReleaseContent(
            repository: "hello", version: "1.1", buildNumber: 812, tag: "v1.1",
            commit: String(repeating: "1", count: 40),
            notes: task.notes, committedAt: Date(timeIntervalSince1970: 0),
            files: [
                task.file,
                ReleaseFile(
                    name: "Hello.dSYM.zip", path: "/nowhere", bytes: 1, sha256: String(repeating: "0", count: 64)),
            ])
        return try await publisher.publish(release, progress: FolderProgress(folder: task.progress)) { print($0) }
    }
}

/// What the script wants.
private struct StandIn: Decodable {
    var server: String
    var key: String
    var testFlight: TestFlight
    var notes: String
    var file: ReleaseFile
    /// A folder.
    var progress: String
    var result: String

    static let task: StandIn? = {
        guard let path = ProcessInfo.processInfo.environment["PIPECTL_APP_STORE_CHECK"],
            let data = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return nil }
        return try? JSONDecoder().decode(StandIn.self, from: data)
    }()
}

/// Notes that survive the process, one file for each.
private struct FolderProgress: PublishingProgress {
    var folder: String

    func value(_ key: String) async throws -> String? {
        try? String(contentsOfFile: "\(folder)/\(key)", encoding: .utf8)
    }

    func set(_ key: String, to value: String?) async throws {
        let file = URL(fileURLWithPath: "\(folder)/\(key)")
        if let value {
            try Data(value.utf8).write(to: file, options: .atomic)
        } else {
            try? FileManager.default.removeItem(at: file)
        }
    }
}
