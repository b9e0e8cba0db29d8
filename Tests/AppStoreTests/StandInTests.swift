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

/// What testers send, at the same server; `script/app-store-check` starts it.
@Suite(.enabled(if: FeedbackStandIn.task != nil, "script/app-store-check runs this"))
struct FeedbackStandInTests {
    @Test(.timeLimit(.minutes(10))) func `what testers sent is read, and what the server signs is heard`() async throws
    {
        let task = try #require(FeedbackStandIn.task)
        for delivery in task.deliveries {
            let body = Data(delivery.body.utf8)
            #expect(AppStoreNotice.isSigned(body, delivery.signature, secret: task.secret))
            #expect(!AppStoreNotice.isSigned(body, delivery.signature, secret: task.secret + "x"))
            guard case .feedback? = AppStoreNotice(body) else {
                Issue.record("not heard: \(delivery.body)")
                continue
            }
        }
        var pauses = AppStorePauses()
        (pauses.first, pauses.longest, pauses.limited) = (.milliseconds(20), .milliseconds(500), .milliseconds(200))
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: TestFlightFeedback.configuration)
        var found: [FeedbackStandIn.Found] = []
        do {
            let feedback = try TestFlightFeedback(
                task.testFlight, key: task.key, http: http, root: task.server, pauses: pauses)
            for submission in try await feedback.submissions(since: .distantPast) {
                let again = try await feedback.submission(submission.kind, submission.id)
                #expect(again == submission)
                let log = submission.kind == .crash ? try await feedback.crashLog(of: submission.id) : nil
                found.append(
                    FeedbackStandIn.Found(
                        id: submission.id, kind: submission.kind.rawValue, comment: submission.comment,
                        build: submission.build, log: log))
            }
            #expect(try await feedback.submission(.crash, "nothing-here") == nil)
            try await http.shutdown()
        } catch {
            try? await http.shutdown()
            throw error
        }
        try JSONEncoder().encode(found).write(to: URL(fileURLWithPath: task.result), options: .atomic)
    }
}

/// What the script wants of feedback.
private struct FeedbackStandIn: Decodable {
    struct Delivery: Decodable {
        var body: String
        var signature: String
    }
    struct Found: Encodable {
        var id: String
        var kind: String
        var comment: String
        var build: String?
        var log: String?
    }

    var server: String
    var key: String
    var testFlight: TestFlight
    var deliveries: [Delivery]
    var secret: String
    var result: String

    static let task: FeedbackStandIn? = {
        guard let path = ProcessInfo.processInfo.environment["PIPECTL_APP_STORE_FEEDBACK"],
            let data = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return nil }
        return try? JSONDecoder().decode(FeedbackStandIn.self, from: data)
    }()
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
