@testable import Engine
import Foundation
import Pipeline
import Results
import Signing
import Store
import Synchronization
import SystemPackage
import TestBasics
import Testing

@testable import Delivery

/// How a release is made of artifacts, sealed and published.
struct ReleaseMakerTests {
    private struct Sources: ReleaseSources {
        var notes: [LandedNote] = []
        var address: String?
        func address(_ basis: ReleaseBasis) async throws -> String? { address }
        func landed(_ basis: ReleaseBasis) async throws -> LandedNotes { LandedNotes(notes) }
        func file(_ path: String, _ basis: ReleaseBasis) async throws -> Data? {
            path == "Package.resolved" ? Data(#"{"pins": [], "version": 2}"#.utf8) : nil
        }
        func paths(named names: Set<String>, _ basis: ReleaseBasis) async throws -> [String] { ["Package.resolved"] }
    }

    /// Remembers what it was given; fails as often as it is told.
    private final class Memory: Publisher {
        let seen = Mutex<[ReleaseContent]>([])
        /// If it is set, the publisher goes on once this has happened.
        let gate = Mutex<Happening?>(nil)
        let failures = Mutex(0)
        /// Where it is then; nil: each time at another place.
        let address = Mutex<String?>(nil)
        /// How far its users have it when it is published, and what is found later.
        let ends = Mutex(PublicationStanding(.released))
        let now = Mutex(Result<PublicationStanding?, DeliveryProblem>.success(nil))

        func publish(
            _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
        ) async throws -> Publication {
            let tries = Int(try await progress.value("tries") ?? "0") ?? 0
            try await progress.set("tries", to: "\(tries + 1)")
            seen.withLock { $0.append(release) }
            // Only the first one waits.
            let gate = gate.withLock { gate in
                defer { gate = nil }
                return gate
            }
            try await gate?.wait()
            try await progress.confirm()
            let fails = failures.withLock { left in
                defer { left = max(left - 1, 0) }
                return left > 0
            }
            if fails { throw DeliveryProblem(.unreachable, "it does not answer") }
            let standing = ends.withLock { $0 }
            return Publication(
                state: standing.state, reason: standing.reason,
                address: address.withLock { $0 } ?? "https://example.com/\(tries)")
        }

        let checked = Mutex<[String]>([])
        func check(tag: String, at commit: String) async throws { checked.withLock { $0.append("\(tag) \(commit)") } }

        func state(of release: ReleaseContent) async throws -> PublicationStanding? {
            try now.withLock { try $0.get() }
        }
    }

    /// A state folder with an artifact, and a service.
    private struct Bench {
        let folder: TemporaryFolder
        let index: Store.Index
        let service: DeliveryService
        let memory = Memory()
        let key = PrivateKey(new: .ed25519)
        /// The secret; nil is the key.
        var secret: String?
        /// Secrets with further keys.
        var further: [String: String] = [:]
        var basis: ReleaseBasis

        init(notes: [LandedNote] = [], publishes: Bool = true, address: String? = nil) async throws {
            folder = try TemporaryFolder()
            index = try Store.Index.inMemory()
            try await index.connectForge("app", address: "a", location: "/app")
            try folder.folder("run")
            let memory = memory
            service = DeliveryService(
                index: index, folders: ReleaseFolders(folder["releases"]),
                sources: Sources(notes: notes, address: address),
                artifact: { _ in nil }, publishers: { _, _, _ in memory })
            let build = Step("build", run: "make")
            let release = Release(version: .tag(), needs: build).signed(with: "KEY")
            let steps = [build, release.step] + (publishes ? [Step.publish("out", release, to: .folder("/x"))] : [])
            basis = ReleaseBasis(
                run: 1, repository: "app", workflow: "release",
                version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"),
                commit: String(repeating: "c", count: 40), tree: String(repeating: "d", count: 40),
                committedAt: Date(timeIntervalSince1970: 100),
                definition: .init(commit: "e", tree: "f", toolchain: "6"), parameters: [:],
                plan: Plan(workflow: "release", steps: steps.map(\.planned)), trust: .merged,
                startedAt: Date(timeIntervalSince1970: 90), ref: "refs/tags/v1.0", lastTag: nil, pipectl: "1",
                builder: "urn:x")
        }

        func artifact(_ path: String, _ text: String) async throws -> ArtifactRecord {
            let file = try ReleaseFolders.file(folder.write("made", text.utf8))
            try folder.write("run/\(file.sha256)", text.utf8)
            return ArtifactRecord(step: "build", path: path, bytes: file.bytes, sha256: file.sha256)
        }

        func perform(
            _ step: Int, _ artifacts: [ArtifactRecord] = [], _ basis: ReleaseBasis? = nil,
            say: @escaping @Sendable (String) -> Void = { _ in }
        ) async throws -> [ArtifactRecord] {
            let basis = basis ?? self.basis
            return try await service.work(basis).perform(
                ReleaseOrder(
                    step: basis.plan.steps[step], earlier: EarlierSteps(records: [], artifacts: artifacts),
                    folder: FilePath(folder["run"]),
                    secrets: further.merging(["KEY": secret ?? key.pem]) { $1 }.mapValues { Array($0.utf8) }),
                say: say)
        }

        /// The basis of a later run, of another commit with the same version.
        var other: ReleaseBasis {
            var other = basis
            (other.run, other.commit) = (2, String(repeating: "9", count: 40))
            return other
        }

        var path: String { service.folders.folder(of: "1.0", commit: basis.commit, repository: "app") }

        func files() throws -> [String] { try ReleaseFolders.files(in: path).map(\.name) }
    }

    @Test func `its files are there once, signed, and the same at the second attempt`() async throws {
        let bench = try await Bench()
        let made = try await bench.perform(1, [bench.artifact("dist/app.txt", "one")])
        #expect(
            try bench.files()
                == ["SHA256SUMS", "SHA256SUMS.minisig", "app.txt", "app.txt.minisig", "provenance.intoto.jsonl"])
        #expect(made.allSatisfy { $0.path.hasPrefix("release/") })
        let first = try await bench.index.release("1.0", of: "app")
        #expect(first?.state == .draft)
        // The step is repeated after a crash, and the build made other bytes: the release is the one that was made.
        _ = try await bench.perform(1, [bench.artifact("dist/app.txt", "two")])
        #expect(try String(contentsOfFile: "\(bench.path)/app.txt", encoding: .utf8) == "one")
        #expect(try await bench.index.release("1.0", of: "app") == first)
    }

    @Test func `a signed release has a signature of each file, also of what pipectl makes`() async throws {
        let bench = try await Bench()
        let build = Step("build", run: "make")
        let release = Release(version: .tag(), needs: build).signed(with: "KEY").billOfMaterials(.spdx, .cycloneDX)
        var basis = bench.basis
        basis.plan = Plan(workflow: "release", steps: [build, release.step].map(\.planned))
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")], basis)
        let files = try bench.files()
        let signed = files.filter { $0.hasSuffix(".minisig") }.map { String($0.dropLast(".minisig".count)) }
        #expect(signed == ["SHA256SUMS", "app.txt", "sbom.cdx.json", "sbom.spdx.json"])
        #expect(
            Set(files).subtracting(signed + signed.map { $0 + ".minisig" })
                == ["provenance.intoto.jsonl", "release.json", "NOTES.md"])
        let verdicts = ReleaseVerifier(TrustedKeys([bench.key.publicKey])).verify(folder: bench.path)
        #expect(verdicts.filter { !$0.accepted }.map(\.file) == [])
    }

    @Test func `a draft is compared with its record, until its list is signed`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let draft = ReleaseManifest(try #require(try await bench.index.release("1.0", of: "app")))
        let verifier = ReleaseVerifier(TrustedKeys([]))
        #expect(verifier.verify(draft: draft, in: bench.path).filter { !$0.accepted }.map(\.file) == [])
        try "two".write(toFile: "\(bench.path)/app.txt", atomically: true, encoding: .utf8)
        #expect(
            verifier.verify(draft: draft, in: bench.path).filter { !$0.accepted }.map(\.file)
                == ["\(bench.path)/app.txt"])
    }

    @Test func `an empty file is refused before the version is taken, if the forge is to have it`() async throws {
        var bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one"), bench.artifact("files/empty.txt", "")])
        #expect(try await bench.index.release("1.0", of: "app")?.files.map(\.name).contains("empty.txt") == true)
        bench = try await Bench()
        bench.basis.plan.steps[2].action = .publish(.forge())
        let problem = await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("app.txt", "one"), bench.artifact("files/empty.txt", "")])
        }
        #expect(problem?.isOfMachine == false && problem?.reason.contains("files/empty.txt") == true)
        #expect(try await bench.index.release("1.0", of: "app") == nil)
    }

    @Test(
        arguments: [
            (.apt(folder: "/x", key: "K"), "app.deb"),
            (.homebrew(tap: "https://example.com/a/tap", formula: "Formula/app.rb"), "app.rb"),
            (.testFlight(TestFlight(app: "a", key: "K", keyID: "1")), "app.ipa"),
        ] as [(Destination, String)])
    func `a release without the file that a destination needs is not made`(
        destination: Destination, name: String
    ) async throws {
        var bench = try await Bench()
        bench.basis.plan.steps[2].action = .publish(destination)
        let other = try await bench.artifact("app.txt", "one")
        let problem = await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(1, [other]) }
        #expect(problem?.isOfMachine == false)
        #expect(try await bench.index.release("1.0", of: "app") == nil)
        _ = try await bench.perform(1, [other, bench.artifact("dist/\(name)", "two")])
        #expect(try await bench.index.release("1.0", of: "app")?.state == .draft)
    }

    @Test func `destinations are asked about the tag before it is made`() async throws {
        let bench = try await Bench()
        let (release, publish) = (bench.basis.plan.steps[1], bench.basis.plan.steps[2])
        let keys = ["KEY": Array(bench.key.pem.utf8)]
        for step in [release, publish] {
            try await bench.service.check(step, of: "app", tag: "v1.0", at: "c", secrets: keys)
            try await bench.service.check(step, of: "app", tag: nil, at: "c", secrets: keys)
        }
        #expect(bench.memory.checked.withLock { $0 } == ["v1.0 c"])
    }

    @Test func `a folder that a crash left before the release was recorded is replaced`() async throws {
        let bench = try await Bench()
        try FileManager.default.createDirectory(atPath: bench.path, withIntermediateDirectories: true)
        try "junk".write(toFile: "\(bench.path)/junk", atomically: true, encoding: .utf8)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try !bench.files().contains("junk"))
    }

    @Test func `what a killed process was making is removed, and nothing else`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let repository = FilePath(bench.path).removingLastComponent()
        try bench.folder.write("releases/\(repository.lastComponent?.string ?? "")/.new-17/app.txt", [1])
        try bench.folder.write("work/deliver-aBcDeF/key", [1])
        #expect(try await bench.service.removeLeft(work: bench.folder["work"]) == 2)
        #expect(try await bench.service.removeLeft(work: bench.folder["work"]) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder["work"]) == [])
        let left = try FileManager.default.contentsOfDirectory(atPath: repository.string)
        #expect(!left.contains { $0.hasPrefix(".new-") })
        #expect(try bench.files().contains("app.txt"))
    }

    @Test func `another commit can't take the version`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        _ = try await bench.perform(2)
        let other = bench.other
        let problem = await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("app.txt", "one")], other)
        }
        #expect(problem?.isOfMachine == false)
        let made = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(made.commit == bench.basis.commit)
        // A tag that was moved asks for another tag, since there may be no version to raise.
        let holding = VersionHolding(bench.index)
        let moved = try await holding.obstacle(to: other.commit, made, ref: "refs/tags/v1.0")
        let merged = try await holding.obstacle(to: other.commit, made, ref: "refs/heads/main")
        #expect(moved != nil && merged != nil && moved != merged)
    }

    @Test func `a draft that nobody saw gives its version to another commit, and does not come back`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let draft = try #require(try await bench.index.release("1.0", of: "app"))
        _ = try await bench.perform(1, [bench.artifact("app.txt", "two")], bench.other)
        let made = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(made.commit == bench.other.commit && made.run == 2 && made.state == .draft)
        for path in [bench.path, bench.path + ".json"] { #expect(!FileManager.default.fileExists(atPath: path)) }
        // A run that still has the draft can neither publish nor seal what has taken its place.
        await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        let signers = try Signers(
            bench.basis.plan.release?.signatures ?? [], ["KEY": Array(bench.key.pem.utf8)])
        await #expect(throws: DeliveryProblem.self) {
            try await ReleaseSeal(bench.service, draft).seal(with: signers) { _ in }
        }
        #expect(try await bench.index.release("1.0", of: "app")?.state == .draft)
        #expect(bench.memory.seen.withLock { $0.isEmpty })
        let new = try Store.Index.inMemory()
        try await new.connectForge("app", address: "a", location: "/app")
        #expect(try await ReleaseRecords(new, bench.service.folders).restoreAll() == 1)
        #expect(try await new.release("1.0", of: "app")?.commit == bench.other.commit)
    }

    @Test func `an index from before a draft was replaced learns of its successor`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let draft = try #require(try await bench.index.release("1.0", of: "app"))
        _ = try await bench.perform(1, [bench.artifact("app.txt", "two")], bench.other)
        _ = try await bench.perform(2, [], bench.other)
        let restored = try Store.Index.inMemory()
        try await restored.connectForge("app", address: "a", location: "/app")
        _ = try await restored.addRelease(draft)
        _ = try await ReleaseRecords(restored, bench.service.folders).restoreAll()
        let now = try #require(try await restored.release("1.0", of: "app"))
        #expect(now.commit == bench.other.commit && now.state == .published)
    }

    @Test func `a draft keeps its version while a run works with it`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let run = try await bench.index.enqueue(
            RunRequest(
                repository: "app", workflow: "release", event: .merge, ref: "refs/heads/main", branch: "main",
                head: bench.basis.commit, definitionCommit: bench.basis.commit, subject: "main",
                concurrency: .supersede)
        ).run
        await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("app.txt", "two")], bench.other)
        }
        #expect(try await bench.index.release("1.0", of: "app")?.commit == bench.basis.commit)
        #expect(try await bench.index.cancelQueued(run.id, reason: "rejected"))
        _ = try await bench.perform(1, [bench.artifact("app.txt", "two")], bench.other)
        #expect(try await bench.index.release("1.0", of: "app")?.commit == bench.other.commit)
    }

    @Test func `a candidate and the final version are releases of one commit`() async throws {
        let bench = try await Bench()
        var candidate = bench.basis
        candidate.version = ReleaseVersion(version: "1.0-rc1", buildNumber: 4, tag: "v1.0-rc1")
        _ = try await bench.perform(1, [bench.artifact("app.txt", "rc")], candidate)
        _ = try await bench.perform(2, [], candidate)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "final")])
        _ = try await bench.perform(2)
        #expect(try await bench.index.versions(of: "app", limit: 10).map(\.version) == ["1.0", "1.0-rc1"])
        #expect(bench.memory.seen.withLock { $0.map(\.version) } == ["1.0-rc1", "1.0"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `runs that make it at the same time make one`() async throws {
        let bench = try await Bench()
        let artifacts = try await [bench.artifact("app.txt", "one"), bench.artifact("app.txt", "another")]
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                var basis = bench.basis
                basis.run = RunID(10 + number)
                let (own, made) = (basis, artifacts[number % 2])
                group.addTask { _ = try await bench.perform(1, [made], own) }
            }
            try await group.waitForAll()
        }
        let release = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(try bench.service.folders.files(of: release).count == release.files.count)
    }

    @Test(arguments: ["changed", "removed", "added"])
    func `files that are not as they were made are not published`(how: String) async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let path = "\(bench.path)/app.txt"
        switch how {
        case "changed": try "two".write(toFile: path, atomically: true, encoding: .utf8)
        case "removed": try FileManager.default.removeItem(atPath: path)
        default: try "x".write(toFile: "\(bench.path)/other.txt", atomically: true, encoding: .utf8)
        }
        let problem = await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        #expect(problem?.isOfMachine == false)
        #expect(bench.memory.seen.withLock { $0.isEmpty })
    }

    @Test func `an index that forgot them learns its releases, and none is made again`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        _ = try await bench.perform(2)
        #expect(try await bench.index.move("1.0", of: "app", from: [.published], to: .yanked, reason: "bad"))
        try await bench.service.records.keep("1.0", of: "app")
        let was = try #require(try await bench.index.release("1.0", of: "app"))

        let new = try Store.Index.inMemory()
        let records = ReleaseRecords(new, bench.service.folders)
        #expect(try await records.restoreAll() == 0, "the repository is not known")
        try await new.connectForge("app", address: "a", location: "/app")
        #expect(try await records.restoreAll() == 1)
        #expect(try await records.restoreAll() == 0)
        let now = try #require(try await new.release("1.0", of: "app"))
        #expect(now.state == .yanked && now.reason == "bad" && now.files == was.files)
        #expect(now.publications.map(\.state) == [.released])
    }

    @Test func `an index that learned its releases gives no run the number of one that made a release`() async throws {
        var bench = try await Bench()
        bench.basis.run = 41
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let new = try Store.Index.inMemory()
        try await new.connectForge("app", address: "a", location: "/app")
        #expect(try await ReleaseRecords(new, bench.service.folders).restoreAll() == 1)
        let commit = String(repeating: "a", count: 40)
        let next = try await new.enqueue(
            RunRequest(
                repository: "app", workflow: "test", event: .merge, ref: "refs/heads/main", branch: "main",
                head: commit,
                definitionCommit: commit, subject: "main", concurrency: .supersede))
        #expect(next.run.id == 42)
    }

    @Test func `a sealed release that nobody remembers is not replaced, and records of earlier versions are made up`()
        async throws
    {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        _ = try await bench.perform(2)
        let record = bench.path + ".json"
        try FileManager.default.removeItem(atPath: record)
        try await bench.service.records.keepMissing()
        #expect(FileManager.default.fileExists(atPath: record))
        // What is no folder does not hinder anybody.
        try "x".write(toFile: bench.folder["releases/.DS_Store"], atomically: true, encoding: .utf8)
        #expect(try await bench.service.records.restoreAll() == 0)
        try FileManager.default.removeItem(atPath: record)
        #expect(throws: DeliveryProblem.self) { try bench.service.folders.make(bench.path) { _ in } }
        #expect(try bench.files().contains("app.txt"))
    }

    @Test func `notes that a person wrote since the index was copied are not lost`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let copy = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(try await bench.index.setNotes("by hand", of: "1.0", in: "app"))
        try await bench.service.records.keep("1.0", of: "app")
        let restored = try Store.Index.inMemory()
        try await restored.connectForge("app", address: "a", location: "/app")
        _ = try await restored.addRelease(copy)
        #expect(try await ReleaseRecords(restored, bench.service.folders).restoreAll() == 0)
        #expect(try await restored.release("1.0", of: "app")?.notes == "by hand")
    }

    @Test func `a run that makes a version again finds the record beside its folder`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let new = try Store.Index.inMemory()
        try await new.connectForge("app", address: "a", location: "/app")
        let kept = try await ReleaseRecords(new, bench.service.folders)
            .release("1.0", commit: bench.basis.commit, of: "app")
        #expect(kept?.run == bench.basis.run)
        #expect(try await new.release("1.0", of: "app")?.state == .draft)
    }

    @Test func `a destination that goes on working is asked again`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        bench.memory.ends.withLock { $0 = PublicationStanding(.processing) }
        _ = try await bench.perform(2)
        let following = ReleaseFollowing(bench.service) { _, _ in nil }
        #expect(try await following.look().isEmpty)
        bench.memory.now.withLock { $0 = .failure(DeliveryProblem(.unreachable, "no answer")) }
        #expect(try await following.look().map(\.step) == ["out"])
        let asks = PublicationStanding(.processing, because: "answer it")
        bench.memory.now.withLock { $0 = .success(asks) }
        #expect(try await following.look().map { try $0.result.get() } == [asks])
        #expect(try await bench.index.release("1.0", of: "app")?.publications.map(\.reason) == ["answer it"])
        #expect(try await following.look().isEmpty)
        bench.memory.now.withLock { $0 = .success(PublicationStanding(.testing)) }
        #expect(try await following.look().map(\.release.version) == ["1.0"])
        #expect(try await bench.index.release("1.0", of: "app")?.publications.map(\.state) == [.testing])
        #expect(try await bench.index.release("1.0", of: "app")?.publications.map(\.reason) == [nil])
        #expect(try await following.look().isEmpty)
    }

    @Test func `what a destination refuses is told once with its reason, until it is accepted`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        bench.memory.ends.withLock { $0 = PublicationStanding(.processing) }
        _ = try await bench.perform(2)
        let following = ReleaseFollowing(bench.service) { _, _ in nil }
        bench.memory.now.withLock { $0 = .success(PublicationStanding(.refused, because: "it was rejected")) }
        #expect(try await following.look().map(\.step) == ["out"])
        let known = try await bench.index.release("1.0", of: "app")?.publications
        #expect(known?.map(\.state) == [.refused] && known?.map(\.reason) == ["it was rejected"])
        #expect(try await following.look().isEmpty)
        bench.memory.now.withLock { $0 = .success(PublicationStanding(.testing)) }
        #expect(try await following.look().map(\.step) == ["out"])
        #expect(try await bench.index.release("1.0", of: "app")?.publications.map(\.state) == [.testing])
        #expect(try await following.look().isEmpty)
    }

    @Test func `what a destination refuses during the step fails it, and is known with its reason`() async throws {
        var bench = try await Bench()
        // Another destination takes it.
        var elsewhere = bench.basis.plan.steps[2]
        elsewhere.name = "elsewhere"
        bench.basis.plan.steps.append(elsewhere)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let rejected = PublicationStanding(.refused, because: "it was rejected")
        bench.memory.ends.withLock { $0 = rejected }
        let problem = await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        #expect(problem?.isOfMachine == false && problem?.reason == rejected.reason)
        bench.memory.ends.withLock { $0 = PublicationStanding(.released) }
        _ = try await bench.perform(3)
        let now = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(now.publications.map(\.state) == [.refused, .released])
        #expect(now.publications.map(\.reason) == [rejected.reason, nil])
        #expect(now.state == .sealed)
        // It is as it was when the step ended, and then not.
        bench.memory.now.withLock { $0 = .success(rejected) }
        let following = ReleaseFollowing(bench.service) { _, _ in nil }
        #expect(try await following.look().isEmpty)
        bench.memory.now.withLock { $0 = .success(PublicationStanding(.testing)) }
        #expect(try await following.look().map(\.step) == ["out"])
        _ = try await bench.perform(2)
        #expect(try await bench.index.release("1.0", of: "app")?.state == .published)
    }

    @Test func `a destination that goes on working is asked again after the index was restored`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        bench.memory.ends.withLock { $0 = PublicationStanding(.processing) }
        _ = try await bench.perform(2)
        let new = try Store.Index.inMemory()
        try await new.connectForge("app", address: "a", location: "/app")
        #expect(try await ReleaseRecords(new, bench.service.folders).restoreAll() == 1)
        let asked = Mutex<[Destination]>([])
        let memory = bench.memory
        let service = DeliveryService(
            index: new, folders: bench.service.folders, sources: Sources(), artifact: { _ in nil },
            publishers: { destination, _, _ in
                asked.withLock { $0.append(destination) }
                return memory
            })
        bench.memory.now.withLock { $0 = .success(PublicationStanding(.testing)) }
        #expect(try await ReleaseFollowing(service) { _, _ in nil }.look().map(\.step) == ["out"])
        #expect(asked.withLock { $0 } == [.folder("/x")])
        #expect(try await new.release("1.0", of: "app")?.publications.map(\.state) == [.testing])
        // A record of an earlier version of pipectl has none of this, and is read all the same.
        let path = bench.path + ".json"
        var fields = try #require(
            JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any])
        fields["destinations"] = nil
        try JSONSerialization.data(withJSONObject: fields).write(to: URL(filePath: path))
        let other = try Store.Index.inMemory()
        try await other.connectForge("app", address: "a", location: "/app")
        #expect(try await ReleaseRecords(other, bench.service.folders).restoreAll() == 1)
    }

    @Test(arguments: [PublicKey.Algorithm.ed25519, .p256])
    func `two keys of one form sign side by side, and either is enough`(_ algorithm: PublicKey.Algorithm) async throws {
        var bench = try await Bench(publishes: false)
        let (old, new) = (PrivateKey(new: algorithm), PrivateKey(new: algorithm))
        bench.secret = old.pem
        bench.further = ["NEXT": new.pem]
        let build = Step("build", run: "make")
        let release = Release(version: .tag(), needs: build).signed(with: "KEY").signed(with: "NEXT")
        bench.basis.plan = Plan(workflow: "release", steps: [build.planned, release.step.planned])
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let ending = algorithm == .ed25519 ? "minisig" : "sig"
        #expect(
            try Set(bench.files()).isSuperset(of: ["app.txt.\(ending)", "app.txt.\(new.publicKey.id).\(ending)"]))
        for key in [old, new] {
            let verifier = ReleaseVerifier(TrustedKeys([key.publicKey]), expecting: .init(version: "1.0"))
            #expect(verifier.verify(folder: bench.path).filter { !$0.accepted }.map(\.file) == [])
            let file = verifier.verify(file: "\(bench.path)/app.txt")
            let forms = file.checks.filter { $0.state == .passed && [.minisign, .cosign, .bundle].contains($0.name) }
            #expect(Set(forms.map(\.name)) == (algorithm == .ed25519 ? [.minisign] : [.cosign, .bundle]))
        }
    }

    @Test func `the signatures of a further key can be published, also of the longest name`() async throws {
        var bench = try await Bench(publishes: false)
        bench.secret = PrivateKey(new: .p256).pem
        bench.further = ["NEXT": PrivateKey(new: .p256).pem]
        let build = Step("build", run: "make")
        let release = Release(version: .tag(), needs: build).signed(with: "KEY").signed(with: "NEXT")
        bench.basis.plan = Plan(workflow: "release", steps: [build.planned, release.step.planned])
        let longest = String(repeating: "a", count: 165)
        _ = try await bench.perform(1, [bench.artifact(longest, "one")])
        let made = try bench.files().filter { $0.hasPrefix(longest) }
        #expect(made.count == 5)
        for name in made { #expect(try PublishedName.file(name) == name) }
    }

    @Test func `a key that is named twice is refused`() async throws {
        var bench = try await Bench(publishes: false)
        bench.further = ["NEXT": bench.key.pem]
        let build = Step("build", run: "make")
        let release = Release(version: .tag(), needs: build).signed(with: "KEY").signed(with: "NEXT")
        bench.basis.plan = Plan(workflow: "release", steps: [build.planned, release.step.planned])
        let problem = await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        }
        #expect(problem?.isOfMachine == false)
    }

    @Test func `its repository is named by its address, or as a URI of its own`() async throws {
        for (address, origin) in [
            (nil, "urn:pipectl:repository:app@refs/tags/v1.0"),
            ("https://git.example.com/o/app", "git+https://git.example.com/o/app@refs/tags/v1.0"),
        ] as [(String?, String)] {
            let bench = try await Bench(publishes: false, address: address)
            _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
            let verifier = ReleaseVerifier(
                TrustedKeys([bench.key.publicKey]), expecting: .init(version: "1.0", repository: address ?? "app"))
            #expect(verifier.verify(folder: bench.path).filter { !$0.accepted }.map(\.file) == [])
            let lines = try String(contentsOfFile: "\(bench.path)/provenance.intoto.jsonl", encoding: .utf8)
            struct Sealed: Decodable { var payload: Data }
            let sealed = try JSONDecoder().decode(Sealed.self, from: Data(lines.split(separator: "\n")[0].utf8))
            #expect(
                String(decoding: sealed.payload, as: UTF8.self).replacing("\\/", with: "/").contains("\"\(origin)\""))
        }
    }

    @Test func `it is sealed with its notes when it is published, and published when all steps have passed`()
        async throws
    {
        let bench = try await Bench(notes: [LandedNote(change: "7", title: "Add *it*", author: "ada", issues: [3])])
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try await bench.index.setNotes("by hand", of: "1.0", in: "app"))
        bench.memory.failures.withLock { $0 = 1 }
        let problem = await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        #expect(problem?.isOfMachine == true)
        #expect(try await bench.index.release("1.0", of: "app")?.state == .sealed)
        #expect(try await !bench.index.setNotes("later", of: "1.0", in: "app"))
        _ = try await bench.perform(2)
        let now = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(now.state == .published)
        // What the publisher noted at the first attempt was there at the second.
        #expect(now.publications.map(\.address) == ["https://example.com/1"])
        let seen = try #require(bench.memory.seen.withLock { $0.last })
        #expect(seen.notes == "by hand")
        #expect(seen.files.map(\.name).contains("release.json"))
        let manifest = try ReleaseManifest.read(
            Data(contentsOf: URL(fileURLWithPath: "\(bench.path)/release.json")),
            among: TrustedKeys([bench.key.publicKey])
        ).manifest
        #expect(manifest.commit == bench.basis.commit)
        #expect(manifest.files.count == 5)
    }

    @Test func `a publication that is there already is as old as it was`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        bench.memory.address.withLock { $0 = "https://example.com/a" }
        _ = try await bench.perform(2)
        let first = try #require(try await bench.index.release("1.0", of: "app")?.publications.first)
        _ = try await bench.perform(2)
        #expect(try await bench.index.release("1.0", of: "app")?.publications == [first])
        bench.memory.address.withLock { $0 = "https://example.com/b" }
        _ = try await bench.perform(2)
        let other = try #require(try await bench.index.release("1.0", of: "app")?.publications.first)
        #expect(other.address == "https://example.com/b" && other.updatedAt > first.updatedAt)
    }

    @Test(arguments: [("1.1", true), ("1.2-rc.1", true), ("1.10", false), ("1.3-rc.1", false)])
    func `a version that is lower than a published one is noted`(version: String, isLower: Bool) async throws {
        let bench = try await Bench(publishes: false)
        var published = bench.basis
        published.version = ReleaseVersion(version: "1.2", buildNumber: 4, tag: "v1.2")
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")], published)
        var basis = bench.basis
        basis.version = ReleaseVersion(version: version, buildNumber: 5, tag: "v\(version)")
        let said = Mutex<[String]>([])
        _ = try await bench.perform(1, [bench.artifact("app.txt", "two")], basis) { line in
            said.withLock { $0.append(line) }
        }
        #expect(said.withLock { $0.contains { $0.contains("\(version) is lower than 1.2") } } == isLower)
    }

    @Test func `the latest release is the highest one that is for everybody`() {
        func release(_ version: String, _ state: ReleaseRecord.State = .published) -> ReleaseRecord {
            ReleaseRecord(
                repository: "app", version: ReleaseVersion(version: version, buildNumber: 4, tag: "v\(version)"),
                commit: "c", tree: "", committedAt: Date(timeIntervalSince1970: 1), workflow: "release", run: 1,
                madeAt: Date(timeIntervalSince1970: 1), state: state, notes: "", files: [])
        }
        let all = [
            release("1.1.0"), release("1.4.0-rc.1"), release("1.5.0", .draft), release("1.3.0", .yanked),
            release("1.2.0"),
        ]
        #expect(all.latestPublished?.version == "1.2.0")
        #expect(all.latest?.version == "1.5.0")
        #expect([release("2026a"), release("1.0")].latest?.version == "2026a", "the newest has no order")
        #expect([release("1.0"), release("2026a"), release("1.1")].latest?.version == "1.1")
        #expect([release("1.0", .yanked)].latest == nil)
    }

    @Test(arguments: [PublicKey.Algorithm.ed25519, .p256])
    func `its whole folder is accepted, until a file in it is changed`(algorithm: PublicKey.Algorithm) async throws {
        var bench = try await Bench(publishes: false)
        let key = PrivateKey(new: algorithm)
        bench.secret = key.pem
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one"), bench.artifact("b.txt", "two")])
        let verifier = ReleaseVerifier(TrustedKeys([key.publicKey]), expecting: .init(version: "1.0"))
        let verdicts = verifier.verify(folder: bench.path)
        // The list itself, and each file that it names; the notes are checked with each of them.
        #expect(try verdicts.count == bench.files().count - 1)
        #expect(verdicts.filter { !$0.accepted }.map(\.file) == [])
        for name in try bench.files() {
            let path = "\(bench.path)/\(name)"
            let content = try Data(contentsOf: URL(fileURLWithPath: path))
            try (content + Data("x".utf8)).write(to: URL(fileURLWithPath: path))
            #expect(verifier.verify(folder: bench.path).contains { !$0.accepted }, "\(name)")
            try content.write(to: URL(fileURLWithPath: path))
        }
        #expect(verifier.verify(folder: bench.path).filter { !$0.accepted }.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)))
    func `steps that publish it at the same time see one seal`() async throws {
        var bench = try await Bench()
        // Each signature of ECDSA is another, so that a second seal would be noticed.
        bench.secret = PrivateKey(new: .p256).pem
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let steps = bench
        try await withThrowingTaskGroup { group in
            for _ in 1...8 { group.addTask { _ = try await steps.perform(2) } }
            try await group.waitForAll()
        }
        let seals = bench.memory.seen.withLock { seen in
            seen.map { content in content.files.first { $0.name == "release.json" }?.sha256 }
        }
        #expect(seals.count == 8)
        #expect(Set(seals).count == 1)
        #expect(seals.first != .some(nil))
    }

    @Test(.timeLimit(.minutes(1)))
    func `runs that publish it at the same time take turns`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let gate = Happening()
        bench.memory.gate.withLock { $0 = gate }
        let seen: @Sendable () -> Int = { bench.memory.seen.withLock { $0.count } }
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await bench.perform(2) }
            try await eventually("the first one publishes") { seen() == 1 }
            var other = bench.basis
            other.run = 2
            let (second, said) = (other, Count())
            group.addTask { _ = try await bench.perform(2, [], second) { _ in said.add() } }
            // It says that it waits, or it is there already.
            try await eventually("the second one begins") { said.value > 0 }
            #expect(seen() == 1)
            gate.happens()
            try await group.waitForAll()
        }
        #expect(seen() == 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a release that is withdrawn while it is published is not shown`() async throws {
        let bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        let gate = Happening()
        bench.memory.gate.withLock { $0 = gate }
        try await withThrowingTaskGroup { group in
            group.addTask {
                await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
            }
            try await eventually("it is published") { bench.memory.seen.withLock { $0.count } == 1 }
            #expect(try await bench.index.move("1.0", of: "app", from: [.sealed], to: .yanked, reason: "bad"))
            gate.happens()
            try await group.waitForAll()
        }
        let now = try #require(try await bench.index.release("1.0", of: "app"))
        #expect(now.state == .yanked && now.publications.map(\.state) == [.begun])
    }

    @Test func `without a step that publishes, it is sealed at once`() async throws {
        let bench = try await Bench(publishes: false)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try await bench.index.release("1.0", of: "app")?.state == .sealed)
        #expect(try bench.files().contains("release.json"))
    }

    @Test func `a release whose files another key has signed is not sealed`() async throws {
        var bench = try await Bench()
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try await bench.index.release("1.0", of: "app")?.keys == [bench.key.publicKey.id.description])
        bench.secret = PrivateKey(new: .ed25519).pem
        let failure = await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        #expect(failure?.isOfMachine == false)
        #expect(try await bench.index.release("1.0", of: "app")?.state == .draft)
        bench.secret = nil
        _ = try await bench.perform(2)
        #expect(try await bench.index.release("1.0", of: "app")?.state == .published)
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: succeeds(["openssl", "version"])))
    func `a command signs, whose key never is in this process, and one with another key is refused`() async throws {
        var bench = try await Bench(publishes: false)
        let key = PrivateKey(new: .p256)
        let pem = try bench.folder.write("key", key.pem.utf8)
        let program = try bench.folder.write(
            "sign",
            "#!/bin/sh\necho signing with the token >&2\ncat > \"$2\"\nopenssl pkeyutl -sign -inkey \"$1\" -in \"$2\" | base64 | tr -d '\\n'\necho\n"
                .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        func text(_ public: PublicKey) -> String {
            "command: \(program) \(pem) \(bench.folder["input"])\n\(`public`.pem)"
        }
        bench.secret = text(PrivateKey(new: .p256).publicKey)
        await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        }
        bench.secret = text(key.publicKey)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try bench.files().contains("app.txt.sigstore.json"))
        let manifest = try ReleaseManifest.read(
            Data(contentsOf: URL(fileURLWithPath: "\(bench.path)/release.json")), among: TrustedKeys([key.publicKey])
        ).manifest
        #expect(manifest.version == "1.0")
    }

    @Test func `unmerged code, a withdrawn release and unusable names are refused`() async throws {
        let bench = try await Bench()
        var foreign = bench.basis
        foreign.trust = .change
        await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(1, [], foreign) }
        await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(1, []) }
        await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("a/x.txt", "1"), bench.artifact("b/X.txt", "2")])
        }
        await #expect(throws: ReleaseFailure.self) {
            _ = try await bench.perform(1, [bench.artifact("-rf", "1")])
        }
        let long = String(repeating: "a", count: 166)
        for name in ["SHA256SUMS", "notes.md", "app.part", "a,1.txt", "a=1.txt", "a#1.txt", "a%1", "+a", "a b", long] {
            await #expect(throws: ReleaseFailure.self) {
                _ = try await bench.perform(1, [bench.artifact("app.txt", "1"), bench.artifact(name, "2")])
            }
        }
        #expect(try await bench.index.release("1.0", of: "app") == nil)
        _ = try await bench.perform(1, [bench.artifact("app.txt", "one")])
        #expect(try await bench.index.move("1.0", of: "app", from: [.draft], to: .yanked, reason: "bad"))
        await #expect(throws: ReleaseFailure.self) { _ = try await bench.perform(2) }
        #expect(bench.memory.seen.withLock { $0.isEmpty })
    }

    @Test func `notes name what landed, and what authors wrote has no effect in them`() {
        let text = ReleaseNotes.text(
            LandedNotes([
                LandedNote(change: "7", title: "Add it", author: "ada", issues: [3, 4]),
                LandedNote(
                    change: "8", title: "Task 12: x", author: "a", issues: [], fixes: "EXC_BAD_ACCESS in Cart.total()"),
                LandedNote(change: "fix/x", title: "closes #9 @everyone <b>", author: "[x](y)", issues: []),
            ]))
        #expect(
            text
                == "- Add it (#7, ada, for #3, #4)\n- fixed: `EXC_BAD_ACCESS in Cart.total()` (#8, a)\n- `closes #9 @everyone <b>` (`fix/x`, `[x](y)`)\n"
        )
        let long = (0..<5_000).map { LandedNote(change: "\($0)", title: "Title", author: "ada", issues: []) }
        let many = ReleaseNotes.text(LandedNotes(long, older: 7))
        #expect(many.utf8.count <= ReleaseNotes.most)
        let shown = many.split(separator: "\n").count - 1
        #expect(many.hasSuffix("\n- … and \(5_000 - shown + 7) more\n"))
        #expect(ReleaseNotes.text(LandedNotes(Array(long.prefix(1)), older: 2)).hasSuffix("\n- … and 2 more\n"))
    }

    @Test func `the issues that a message names are found`() {
        #expect(ReleaseNotes.issues(in: "Fixes #12, closes: #7 and resolves #12. #5 is another") == [12, 7])
        #expect(ReleaseNotes.issues(in: "prefix #1 fixed#2 fixes 3").isEmpty)
    }
}
