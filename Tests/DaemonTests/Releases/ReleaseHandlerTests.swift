import Control
import Delivery
import Foundation
import Logging
import Preparing
import Results
import RunSamples
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

    /// A repository with a release that is not published yet.
    private struct Ground {
        let folder: TemporaryFolder
        let index: Store.Index
        let handler: ReleaseHandler
        let name: String
        static let commit = String(repeating: "c", count: 40)

        init(_ state: ReleaseRecord.State, gates: [[String]]? = nil) async throws {
            folder = try TemporaryFolder()
            index = try Store.Index.inMemory()
            let repositories = KnownRepositories(
                registry: RepositoryRegistry(index: index, mirrors: folder["mirrors"]), index: index,
                watchers: Watchers(), mirrors: folder["mirrors"], trust: .standard)
            name = try await repositories.open(try await TestRepository.make(at: folder["app"]).path).name
            var release = ReleaseRecord(
                repository: name, version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"),
                commit: Self.commit, tree: "", committedAt: Date(timeIntervalSince1970: 100), workflow: "release",
                run: 1, madeAt: Date(timeIntervalSince1970: 200), state: state, notes: "", files: [])
            release.gates = gates
            _ = try await index.addRelease(release)
            handler = ReleaseHandler(
                index: index, folders: ReleaseFolders(folder["releases"]), repositories: repositories,
                log: ReleaseHandlerTests.log)
        }
    }

    @Test(
        arguments: [
            ([["gate"]], ["gate"], true), ([["gate"]], [], false), ([["quality", "gate"]], ["quality"], false),
            ([["gate"], ["other"]], ["other"], true), ([[]], ["before"], false), (nil, ["gate"], true),
            (nil, [], false),
        ] as [([[String]]?, [String], Bool)])
    func `notes stay as they were approved for publishing`(gates: [[String]]?, given: [String], isFixed: Bool)
        async throws
    {
        let ground = try await Ground(.draft, gates: gates)
        var request = RunSample.request(change: nil)
        (request.repository, request.workflow, request.head) = (ground.name, "release", Ground.commit)
        // It is queued, as after a crash.
        let run = try await ground.index.enqueue(request).run.id
        for step in given {
            _ = try await ground.index.ask(
                Approval(
                    step: step, why: "", head: Ground.commit, definition: "", binding: "b", askedAt: RunSample.start),
                of: run)
            _ = try await ground.index.answer(run, step: step, .approved, by: "ada", user: 1, comment: nil)
        }
        let order = DaemonRequest.setReleaseNotes(ReleaseSubject(repository: ground.name, version: "1.0"), notes: "new")
        if isFixed {
            await #expect(throws: RequestError.self) {
                _ = try await ground.handler.reply(to: order, by: Caller(person: "ada"))
            }
        } else {
            _ = try await ground.handler.reply(to: order, by: Caller(person: "ada"))
        }
        #expect(try await ground.index.release("1.0", of: ground.name)?.notes == (isFixed ? "" : "new"))
    }

    /// Asks for the newest run's approval of a step of the release, and answers if `decision` is set.
    private func ask(_ ground: Ground, _ step: String, _ decision: Approval.Decision?) async throws -> RunID {
        var request = RunSample.request(change: nil)
        (request.repository, request.workflow, request.head) = (ground.name, "release", Ground.commit)
        let run = try await ground.index.enqueue(request).run.id
        _ = try await ground.index.ask(
            Approval(
                step: step, why: "", head: Ground.commit, definition: "", binding: "b", askedAt: RunSample.start),
            of: run)
        if let decision {
            _ = try await ground.index.answer(run, step: step, decision, by: "ada", user: 1, comment: "too early")
        }
        return run
    }

    @Test(
        arguments: [("gate", nil, true), ("gate", .rejected, true), ("gate", .approved, false), ("other", nil, false)]
            as [(String, Approval.Decision?, Bool)])
    func `a release says that it waits for a person, or was rejected`(
        step: String, decision: Approval.Decision?, isSaid: Bool
    ) async throws {
        let ground = try await Ground(.draft, gates: [["gate"]])
        let run = try await ask(ground, step, decision)
        let (handler, caller) = (ground.handler, Caller(person: "ada"))
        let subject = ReleaseSubject(repository: ground.name, version: "1.0")
        guard case .release(let detail) = try await handler.reply(to: .release(subject), by: caller),
            case .releases(let list) = try await handler.reply(to: .releases(ReleasesQuery()), by: caller)
        else {
            Issue.record("another reply")
            return
        }
        let gate = detail.release.gate
        #expect(gate?.run == (isSaid ? run : nil) && gate?.step == (isSaid ? step : nil))
        #expect(gate?.isRejected == (isSaid ? decision == .rejected : nil))
        #expect(list.map(\.gate) == [gate])
        let words = decision == .rejected ? ["ada", "too early"] : ["pipectl approve \(run) --step gate"]
        if let gate { #expect(words.allSatisfy(gate.inWords.contains)) }
        #expect(try await ground.index.release("1.0", of: ground.name)?.gate == nil)
    }

    @Test func `the latest release is the highest version, and never one that was withdrawn`() async throws {
        let ground = try await Ground(.published)
        let (index, name, caller) = (ground.index, ground.name, Caller(person: "ada"))
        for version in ["1.2.0", "1.10.0", "1.1.0"] {
            _ = try await index.addRelease(
                ReleaseRecord(
                    repository: name, version: ReleaseVersion(version: version, buildNumber: 5, tag: "v\(version)"),
                    commit: String(repeating: "d", count: 40), tree: "", committedAt: Date(timeIntervalSince1970: 100),
                    workflow: "release", run: 1, madeAt: Date(timeIntervalSince1970: 200), state: .published, notes: "",
                    files: []))
        }
        let latest = DaemonRequest.release(ReleaseSubject(repository: name, version: ReleaseVersion.newest))
        for wanted in ["1.10.0", "1.2.0", "1.1.0", "1.0"] {
            guard case .release(let detail) = try await ground.handler.reply(to: latest, by: caller) else {
                Issue.record("another reply")
                return
            }
            #expect(detail.release.version == wanted)
            #expect(try await index.move(wanted, of: name, from: [.published], to: .yanked, reason: "bad"))
        }
        let error = await #expect(throws: RequestError.self) {
            _ = try await ground.handler.reply(to: latest, by: caller)
        }
        #expect(error?.code == .unknownRelease && error?.description.contains("withdrawn") == true)
    }

    @Test(arguments: ["", " \n\t\n"]) func `notes are not replaced by nothing`(notes: String) async throws {
        let ground = try await Ground(.draft)
        #expect(try await ground.index.setNotes("before", of: "1.0", in: ground.name))
        let error = await #expect(throws: RequestError.self) {
            _ = try await ground.handler.reply(
                to: .setReleaseNotes(ReleaseSubject(repository: ground.name, version: "1.0"), notes: notes),
                by: Caller(person: "ada"))
        }
        #expect(error?.code == .usage)
        #expect(try await ground.index.release("1.0", of: ground.name)?.notes == "before")
    }

    @Test func `whoever withdraws a release hears where it is, and where it may still appear`() async throws {
        let ground = try await Ground(.sealed)
        let (index, name, handler) = (ground.index, ground.name, ground.handler)
        for (step, state) in [("one", PublicationRecord.State.released), ("two", .begun), ("three", .refused)] {
            try await index.record(
                PublicationRecord(
                    step: step, destination: "at \(step)", state: state, updatedAt: Date(timeIntervalSince1970: 300)),
                of: "1.0", in: name)
        }
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
