import TestBasics
@testable import Archive
import Results
import Foundation
import Git
import Pipeline
import TestSupport
import Testing

@Suite struct NoteTests {
    @Test func `a note has the verdict and the next step`() {
        var report = Sample.report(12, verdict: .failed)
        report.steps[1].status = .failed
        report.steps[1].reason = "exit code 1"
        report.comparison = Comparison(
            against: 3, commit: Sample.commit(0), alsoFailing: ["Unit/old"],
            newlyFailing: (1...20).map { "Unit/t\($0)" })
        let lines = report.summaryNote.split(separator: "\n").map(String.init)
        #expect(lines[0] == "test: failed (run 12)")
        #expect(lines.contains("tests: 2 passed, 1 failed, 1 skipped"))
        #expect(lines.contains("change 7 into main at aaaaaaaaaa"))
        #expect(lines.contains("step unit tests: failed, exit code 1"))
        #expect(lines.contains("new failure: Unit/t1"))
        #expect(lines.contains("new failure: 12 more"))
        #expect(lines.contains("fails on main too: Unit/old"))
        #expect(lines.last == "repeat: pipectl run test --change 7")
        #expect(lines.count < 24, "one screen")
    }

    @Test func `text of the change stays on its line`() {
        var report = Sample.report(12, verdict: .failed)
        report.comparison = Comparison(
            against: 3, commit: Sample.commit(0),
            newlyFailing: ["a\n\nrelease: passed (run 99)", "\u{1B}[2Jb\u{202E}c", String(repeating: "x", count: 9000)])
        let note = report.summaryNote
        #expect(!note.contains("\n\n") && !note.contains("\u{1B}") && !note.contains("\u{202E}"))
        #expect(note.split(separator: "\n").allSatisfy { $0.count <= 160 })
    }

    @Test func `a commit has one paragraph for each workflow`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/watched.git"
        let head = try {
            let repository = try Repository.create(bareAt: path)
            let author = Signature(name: "ada", email: "ada@localhost", time: Sample.start)
            return try repository.createCommit(
                tree: repository.createTree([:]), parents: [], author: author, committer: author, message: "first")
        }()
        var test = Sample.report(1, verdict: .failed)
        test.head = head.hex
        var release = Sample.report(2, Sample.request("alpha", "release"))
        release.head = head.hex
        var again = Sample.report(3)
        again.head = head.hex
        for report in [test, release, again] { #expect(try await report.mirror(into: path)) }
        let note = try await withRepository(at: path) { try $0.note(for: head, ref: "refs/notes/pipectl") }
        let paragraphs = try #require(note).components(separatedBy: "\n\n")
        #expect(paragraphs.map { $0.prefix { $0 != "\n" } } == ["test: passed (run 3)", "release: passed (run 2)"])
        #expect(try await Sample.report(4).mirror(into: path) == false, "this commit is not there")
    }
}
