@testable import Results
import Store
import Archive
import Foundation
import Git
import TestSupport
import Testing

@Suite struct VerifyTests {
    @Test func `a sound archive has no problems`() async throws {
        let room = try ArchiveRoom()
        for head in 1...3 { try await room.completed(Sample.request(head: head), artifacts: [ArchiveRoom.artifact]) }
        try await room.index.accept(Sample.request(head: 4))
        #expect(try await room.store.verify(room.index).isEmpty)
    }

    @Test(arguments: ["report.json", "logs/001-1.log", "results/001-1-1-tests.xml", "tests.json"])
    func `a missing object is named`(_ file: String) async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        try FileManager.default.removeItem(atPath: try await room.object(id, file))
        let problems = try await room.store.verify(room.index)
        #expect(problems.map(\.kind) == [.damagedRun])
        #expect(problems.first?.description.contains(file) == true)
        #expect(problems.first?.description.contains("pipectl archive push") == true)
    }

    @Test func `a changed object is named`() async throws {
        let room = try ArchiveRoom()
        let (id, other) = (
            try await room.completed(), try await room.completed(Sample.request(head: 2), verdict: .failed)
        )
        // A whole and readable object, but another one: only its hash tells.
        let log = try await room.object(id, "logs/001-1.log")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: log)
        let foreign = try Data(contentsOf: URL(fileURLWithPath: try await room.object(other, "report.json")))
        try foreign.write(to: URL(fileURLWithPath: log))
        let problems = try await room.store.verify(room.index)
        #expect(problems.map(\.kind) == [.damagedRun, .damagedRun], "both runs share this log")
        let error = await #expect(throws: ArchiveError.self) { try await room.store.log(id, "001-1.log") }
        #expect(error?.code == .damagedRun)
    }

    @Test(arguments: [
        ("{ not json", ArchiveProblem.Kind.damagedRun), ("{}", .damagedRun), ("[]", .damagedRun),
        ("{\"schemaVersion\": 1}", .damagedRun), ("{\"schemaVersion\": 99, \"whatever\": 1}", .newerReport),
    ])
    func aReportThatCannotBeReadIsNamed(_ text: String, _ kind: ArchiveProblem.Kind) async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        try await room.tamper(id, "report.json", Array(text.utf8))
        #expect(try await room.store.verify(room.index).map(\.kind) == [kind])
        let error = await #expect(throws: ArchiveError.self) { try await room.store.report(id) }
        #expect(error?.code == (kind == .newerReport ? .newerReport : .damagedRun))
        #expect(error?.description.contains("run \(id)") == true)
        #expect(error?.run == id)
    }

    @Test func `unknown keys are accepted`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        let text = try await withRepository(at: room.store.repositoryPath) { repository in
            try repository.file("report.json", at: #require(try repository.ref("refs/runs/\(id)")))
        }
        let extended = String(decoding: text ?? [], as: UTF8.self).replacing(
            "{\n  \"artifacts\"", with: "{\n  \"aNewKey\" : [1],\n  \"artifacts\"")
        #expect(extended.contains("aNewKey"))
        try await room.tamper(id, "report.json", Array(extended.utf8))
        #expect(try await room.store.report(id) == Sample.report(id))
    }

    @Test func `artifacts are compared with their digests`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed(artifacts: [ArchiveRoom.artifact])
        let path = try #require(room.store.artifact(ArchiveRoom.digest))
        try FileManager.default.removeItem(atPath: path)
        #expect(try await room.store.verify(room.index).map(\.kind) == [.missingArtifact])
        try Data("abd".utf8).write(to: URL(fileURLWithPath: path))
        let problems = try await room.store.verify(room.index)
        #expect(problems.map(\.kind) == [.damagedArtifact])
        #expect(problems.first?.description.contains("pipectl rerun \(id)") == true)
    }

    @Test func `a run that only one side has is named`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        try await room.store.write(Sample.report(9, Sample.request(head: 9)), request: Sample.request(head: 9))
        try await withRepository(at: room.store.repositoryPath) { try $0.deleteRef("refs/runs/\(id)") }
        let problems = try await room.store.verify(room.index)
        #expect(problems.map(\.kind) == [.notInArchive, .notInIndex])
        #expect(problems.map(\.run) == [id, 9])
    }

    @Test func `contradictions are named`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        let other = try ArchiveRoom()
        try await other.completed(Sample.request("beta", head: 2), verdict: .failed)
        let problems = try await room.store.verify(other.index)
        #expect(problems.allSatisfy { $0.kind == .contradiction && $0.run == id })
        #expect(problems.count == 3, "verdict, repository, head")
    }
}
