import TestBasics
@testable import Results
import Store
import Archive
import Foundation
import Git
import TestSupport
import Testing

@Suite struct WritingTests {
    @Test func `a run is read back as it was written`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed(artifacts: [ArchiveRoom.artifact])
        let store = room.store
        #expect(try await store.ids() == [id])
        #expect(try await store.report(id) == Sample.report(id, artifacts: [ArchiveRoom.artifact]))
        #expect(try await store.request(id) == Sample.request())
        #expect(try await store.tests(id) == Sample.tests)
        #expect(try await store.logs(id) == ["001-1.log"])
        #expect(try await store.log(id, "001-1.log") == Array("one\ntwo\n".utf8))
        #expect(try await store.log(id, "001-1.log.times") == [1, 2, 3, 4])
        #expect(try await store.resultFiles(id) == ["001-1-1-tests.xml"])
        let artifact = try #require(store.artifact(ArchiveRoom.digest))
        #expect(try Data(contentsOf: URL(fileURLWithPath: artifact)) == Data("abc".utf8))
        #expect(artifact.hasSuffix("/artifacts/ba/7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    }

    @Test func `the report is readable without pipectl`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed(artifacts: [ArchiveRoom.artifact])
        let (commit, text, manifest) = try await withRepository(at: room.store.repositoryPath) { repository in
            let commit = try #require(try repository.ref("refs/runs/\(id)"))
            return (
                try repository.commit(commit),
                String(decoding: try #require(try repository.file("report.json", at: commit)), as: UTF8.self),
                String(decoding: try #require(try repository.file("artifacts.json", at: commit)), as: UTF8.self)
            )
        }
        #expect(commit.parents.isEmpty)
        #expect(commit.summary == "run 1: passed")
        #expect(text.contains("  \"endedAt\" : \"2026-09-21T14:13:32.500Z\",\n"))
        #expect(text.contains("\"schemaVersion\" : 1"))
        #expect(manifest.contains(ArchiveRoom.digest))
    }

    @Test func `repeating a write changes nothing`() async throws {
        let room = try ArchiveRoom()
        let report = Sample.report(1)
        let first = try await room.store.write(
            report, request: Sample.request(), tests: Sample.tests, files: room.files())
        let second = try await room.store.write(
            report, request: Sample.request(), tests: Sample.tests, files: room.files())
        #expect(first == second)
        #expect(first.bytes > 1000)
    }

    @Test func `an archived run is never replaced`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.completed()
        let error = await #expect(throws: ArchiveError.self) {
            try await room.store.write(Sample.report(id, verdict: .failed), request: Sample.request())
        }
        #expect(error?.code == .alreadyArchived)
        #expect(try await room.store.report(id).verdict == .passed)
    }

    @Test func `a tiny run needs no files`() async throws {
        let room = try ArchiveRoom()
        try await room.store.write(Sample.report(5, tests: []), request: Sample.request())
        #expect(try await room.store.tests(5).isEmpty)
        #expect(try await room.store.logs(5).isEmpty)
        #expect(try await room.store.resultFiles(5).isEmpty)
        let missing = await #expect(throws: ArchiveError.self) { try await room.store.log(5, "001-1.log") }
        #expect(missing?.code == .noSuchFile)
        let unknown = await #expect(throws: ArchiveError.self) { try await room.store.report(6) }
        #expect(unknown?.code == .unknownRun)
    }

    @Test func `an artifact that changed is refused`() async throws {
        let (room, right) = (try ArchiveRoom(), try ArchiveRoom())
        let files = try room.files()
        try room.folder.write("run/artifacts/" + ArchiveRoom.digest, Array("abd".utf8))
        let report = Sample.report(1, artifacts: [ArchiveRoom.artifact])
        for _ in 1...2 {
            let error = await #expect(throws: ArchiveError.self) {
                try await room.store.write(report, request: Sample.request(), files: files)
            }
            #expect(error?.code == .digestMismatch)
            // The second time, the right bytes are there under this digest, and these still aren't.
            try await room.store.write(
                Sample.report(2, artifacts: [ArchiveRoom.artifact]), request: Sample.request(head: 2),
                files: right.files())
        }
        #expect(try await room.store.ids() == [2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.store.home + "/artifacts/incoming") == [])
    }

    @Test func `a link in place of an artifact is refused`() async throws {
        let room = try ArchiveRoom()
        let files = try room.files()
        let path = room.folder.path + "/run/artifacts/" + ArchiveRoom.digest
        try FileManager.default.moveItem(atPath: path, toPath: path + "-real")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "-real")
        let error = await #expect(throws: ArchiveError.self) {
            try await room.store.write(
                Sample.report(1, artifacts: [ArchiveRoom.artifact]), request: Sample.request(), files: files)
        }
        #expect(error?.code == .unreadableFile)
        #expect(try await room.store.ids().isEmpty)
    }

    @Test func `an artifact without a file is refused`() async throws {
        let room = try ArchiveRoom()
        let files = try room.files()
        try FileManager.default.removeItem(atPath: room.folder.path + "/run/artifacts/" + ArchiveRoom.digest)
        let error = await #expect(throws: ArchiveError.self) {
            try await room.store.write(
                Sample.report(1, artifacts: [ArchiveRoom.artifact]), request: Sample.request(), files: files)
        }
        #expect(error?.code == .unreadableFile)
        #expect(room.store.artifact("../../etc/passwd") == nil)
    }

    @Test(arguments: ["", "abd"]) func `a damaged file is replaced by the next run that makes it`(damage: String)
        async throws
    {
        let room = try ArchiveRoom()
        try await room.completed(artifacts: [ArchiveRoom.artifact])
        let path = try #require(room.store.artifact(ArchiveRoom.digest))
        chmod(path, 0o644)
        try Data(damage.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await room.store.verify(room.index).count == 1)
        #expect((room.store.wantedArtifact(ArchiveRoom.digest, bytes: 3) == nil) == damage.isEmpty)
        try await room.completed(Sample.request(head: 2), artifacts: [ArchiveRoom.artifact])
        #expect(try await room.store.verify(room.index).isEmpty)
    }

    @Test func `one artifact of many runs is stored once`() async throws {
        let room = try ArchiveRoom()
        for head in 1...3 { try await room.completed(Sample.request(head: head), artifacts: [ArchiveRoom.artifact]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.store.home + "/artifacts/ba").count == 1)
    }

    @Test func `an unusable state folder is named`() throws {
        let folder = try TemporaryFolder()
        try folder.write("home/archive.git/HEAD", Array("nonsense".utf8))
        let error = #expect(throws: ArchiveError.self) { try ArchiveStore(home: folder.path + "/home") }
        #expect(error?.code == .unusableArchive)
        #expect(error?.description.contains(folder.path + "/home") == true)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_790_000_012_123, "2026-09-21T14:13:32.123Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_400_001, "2100-03-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
    ])
    func timesKeepTheirMilliseconds(_ milliseconds: Int64, _ text: String) async throws {
        let room = try ArchiveRoom()
        var report = Sample.report(1)
        report.createdAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        try await room.store.write(report, request: Sample.request())
        let read = try await room.store.report(1).createdAt
        #expect(abs(read.timeIntervalSince(report.createdAt)) < 0.000_1)
        let json = try await withRepository(at: room.store.repositoryPath) { repository in
            try repository.file("report.json", at: #require(try repository.ref("refs/runs/1")))
        }
        #expect(String(decoding: json ?? [], as: UTF8.self).contains("\"createdAt\" : \"\(text)\""))
    }
}
