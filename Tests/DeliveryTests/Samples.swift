import Foundation
import Synchronization
import TestBasics

@testable import Delivery

/// A release whose files are in a folder.
func release(
    _ version: String = "1.0.0", in folder: TemporaryFolder, _ files: [String: [UInt8]]
) async throws -> ReleaseContent {
    var made: [ReleaseFile] = []
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
        let path = try folder.write("release-\(version)/\(name)", bytes)
        let sum = try await runCommand("sha256sum", path).prefix(64)
        made.append(ReleaseFile(name: name, path: path, bytes: bytes.count, sha256: String(sum)))
    }
    return ReleaseContent(
        repository: "hello", version: version, buildNumber: 7, tag: "v\(version)",
        commit: String(repeating: "2", count: 40), notes: "What is *new*",
        committedAt: Date(timeIntervalSince1970: 1_780_000_000), files: made)
}

func bytes(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count / 8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
}

/// Notes of a publisher, in memory.
final class Notes: PublishingProgress {
    private let values = Mutex<[String: String]>([:])
    var all: [String: String] { values.withLock { $0 } }
    func value(_ key: String) async throws -> String? { values.withLock { $0[key] } }
    func set(_ key: String, to value: String?) async throws { values.withLock { $0[key] = value } }
}

/// Notes of a release that a person withdraws while its files are on the way.
struct Withdrawn: PublishingProgress {
    func value(_ key: String) async throws -> String? { nil }
    func set(_ key: String, to value: String?) async throws {}
    func confirm() async throws { throw DeliveryProblem(.conflict, "it was withdrawn") }
}

extension Publisher {
    /// Publishes, and leaves out what it says.
    @discardableResult
    func bring(
        _ release: ReleaseContent, _ notes: any PublishingProgress = Notes()
    ) async throws -> Publication {
        try await publish(release, progress: notes) { _ in }
    }

    /// The code with which its check fails; nil if it does not.
    func checkFailure() async throws -> DeliveryProblem.Code? {
        do { try await check() } catch let problem as DeliveryProblem { return problem.code }
        return nil
    }

    /// The code with which its question about a tag fails; nil if it does not.
    func checkFailure(tag: String, at commit: String) async throws -> DeliveryProblem.Code? {
        do { try await check(tag: tag, at: commit) } catch let problem as DeliveryProblem { return problem.code }
        return nil
    }

    /// The code with which it fails; nil if it does not.
    func failure(
        _ release: ReleaseContent, _ notes: any PublishingProgress = Notes()
    ) async throws -> DeliveryProblem.Code? {
        do { try await bring(release, notes) } catch let problem as DeliveryProblem { return problem.code }
        return nil
    }
}

/// Attempts that soon end.
let impatient = Patience(most: .seconds(10), first: .milliseconds(10), attempts: 4)
