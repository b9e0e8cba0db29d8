import Control
import Delivery
import Foundation
import Logging
import Preparing
import Results
import StateFiles
import Store
import TestBasics
import Testing
import Watching

@testable import Daemon

/// What the daemon does about releases that were made.
@Suite(.timeLimit(.minutes(1))) struct ReleaseHandlerTests {
    private static var log: Logger {
        var log = Logger(label: "test")
        log.logLevel = .critical
        return log
    }

    @Test func `whoever withdraws a release hears where it is, and where it may still appear`() async throws {
        let folder = try TemporaryFolder()
        let index = try Store.Index.inMemory()
        let repositories = KnownRepositories(
            registry: RepositoryRegistry(index: index, mirrors: folder["mirrors"]), index: index,
            watchers: Watchers(), mirrors: folder["mirrors"], trust: .standard)
        let name = try await repositories.open(try await TestRepository.make(at: folder["app"]).path).name
        _ = try await index.addRelease(
            ReleaseRecord(
                repository: name, version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"),
                commit: String(repeating: "c", count: 40), tree: "", committedAt: Date(timeIntervalSince1970: 100),
                workflow: "release", run: 1, madeAt: Date(timeIntervalSince1970: 200), state: .sealed, notes: "",
                files: []))
        for (step, state) in [("one", PublicationRecord.State.released), ("two", .begun)] {
            try await index.record(
                PublicationRecord(
                    step: step, destination: "at \(step)", state: state, updatedAt: Date(timeIntervalSince1970: 300)),
                of: "1.0", in: name)
        }
        let handler = ReleaseHandler(
            index: index, folders: ReleaseFolders(folder["releases"]), repositories: repositories, log: Self.log)
        let reply = try await handler.reply(
            to: .yankRelease(ReleaseSubject(repository: name, version: "1.0"), reason: "it loses data"),
            by: Caller(person: "ada"))
        guard case .completed(let action) = reply else {
            Issue.record("another reply: \(String(describing: reply))")
            return
        }
        #expect(action == .yanked(version: "1.0", published: ["at one"], begun: ["at two"]))
    }

    @Test func `keys that a killed daemon has left are gone after the next start`() async throws {
        let folder = try TemporaryFolder()
        let home = try folder.folder("home")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home)
        let key = try folder.write("home/delivery/deliver-aBcDeF/key", [1])
        let daemon = try await Daemon(
            state: StateFolder(environment: ["PIPECTL_HOME": folder["home"]]), purpose: "test",
            options: DaemonOptions(slots: 1), executable: Products.path("pipectl"), log: Self.log)
        await daemon.close()
        #expect(!FileManager.default.fileExists(atPath: key))
    }
}
