import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct HistoryTests {
    let fixture: Fixture
    let repository: Repository
    init() throws {
        fixture = try Fixture()
        repository = try Repository(opening: fixture.repository())
    }

    private func lines(_ range: ClosedRange<Int>) -> String { range.map { "line \($0)\n" }.joined() }

    @Test func diffHasEveryStatus() throws {
        let old = try fixture.commit(
            ["keep": lines(1...30), "gone": "1\n2\n", "bytes": "a\0b", "kind": "a file that becomes a link\n"], "Old")
        try fixture.git("mv", "keep", "moved")
        try FileManager.default.removeItem(atPath: fixture["work/kind"])
        try FileManager.default.createSymbolicLink(atPath: fixture["work/kind"], withDestinationPath: "moved")
        let new = try fixture.commit(
            ["gone": nil, "bytes": "a\0c", "added": "alpha\nbeta\ngamma\n", "README.md": "hello\nworld\n"], "New")
        let changes = try repository.diff(from: old, to: new)
        let byPath = Dictionary(uniqueKeysWithValues: changes.map { ($0.path, $0) })
        #expect(
            byPath["moved"] == FileChange(status: .renamed, oldPath: "keep", path: "moved", additions: 0, deletions: 0))
        #expect(byPath["gone"] == FileChange(status: .deleted, path: "gone", additions: 0, deletions: 2))
        #expect(byPath["added"] == FileChange(status: .added, path: "added", additions: 3, deletions: 0))
        #expect(byPath["README.md"] == FileChange(status: .modified, path: "README.md", additions: 1, deletions: 0))
        #expect(byPath["bytes"]?.isBinary == true)
        #expect(byPath["kind"]?.status == .typeChanged)
        #expect(try repository.diff(from: new, to: new) == [])
        #expect(try repository.diff(from: nil, to: old).allSatisfy { $0.status == .added })
        let patch = try repository.patch(from: old, to: new, maximumBytes: 100_000)
        #expect(patch.contains("+world") && patch.contains("rename from keep"))
        let cut = try repository.patch(from: old, to: new, maximumBytes: 200)
        #expect(cut.contains("cut at 200 bytes") && cut.utf8.count < 300)
    }

    @Test func ancestry() throws {
        let base = try fixture.id("HEAD")
        try fixture.git("checkout", "-q", "-b", "side")
        let side = try fixture.commit(["side": "1"], "Side")
        try fixture.git("checkout", "-q", "main")
        let main = try fixture.commit(["main": "1"], "Main")
        #expect(try repository.mergeBase(side, main) == base)
        #expect(try repository.isAncestor(base, of: side))
        #expect(try repository.isAncestor(side, of: side))
        #expect(try !repository.isAncestor(side, of: main))
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
        let merge = try fixture.id("HEAD")
        #expect(
            try repository.log(from: merge, excluding: [], limit: nil, firstParent: true).map(\.id) == [
                merge, main, base,
            ])
        #expect(try Set(repository.log(from: merge, excluding: [base]).map(\.id)) == [merge, main, side])
        #expect(try repository.log(from: merge, limit: 2).count == 2)
        #expect(try repository.log(from: merge, excluding: [side], firstParent: true).map(\.id) == [merge, main])
        try fixture.git("checkout", "-q", "--orphan", "alone")
        let alone = try fixture.commit(["x": "1"], "Alone")
        #expect(try repository.mergeBase(alone, main) == nil)
        #expect(try !repository.isAncestor(alone, of: main))
    }

    @Test func patchIDs() throws {
        let base = try fixture.commit(["a": lines(1...40)], "Base")
        try fixture.git("checkout", "-q", "-b", "side")
        try fixture.commit(["a": lines(1...40) + "tail\n"], "One")
        let side = try fixture.commit(["b": "new\n"], "Two")
        try fixture.git("checkout", "-q", "main")
        try fixture.commit(["a": "head\n" + lines(1...40)], "Elsewhere")
        try fixture.git("merge", "-q", "--squash", "side")
        let squash = try fixture.commit([:], "Squash")
        #expect(try repository.patchID(of: squash) == repository.patchID(from: base, to: side))
        #expect(try repository.patchID(of: squash) != repository.patchID(of: side))
        #expect(try repository.patchID(of: fixture.commit([:], "Empty")) == nil)
        try fixture.git("merge", "-q", "-m", "Merge", "side")
        #expect(try repository.patchID(of: fixture.id("HEAD")) == nil)
    }

    @Test func cleanMergeMatchesGit() throws {
        try fixture.commit(["a": lines(1...40)], "Base")
        try fixture.git("checkout", "-q", "-b", "side")
        let side = try fixture.commit(["a": lines(1...40) + "tail\n"], "Side")
        try fixture.git("checkout", "-q", "main")
        let main = try fixture.commit(["a": "head\n" + lines(1...40)], "Main")
        let outcome = try repository.merge(side, into: main)
        let wanted = try #require(OID(hex: try fixture.git("merge-tree", "--write-tree", "main", "side")))
        #expect(outcome == .merged(tree: wanted))
        #expect(repository.contains(wanted))
    }

    @Test func conflictsHaveTheirKind() throws {
        try fixture.commit(["both": "0\n", "theirs": "0\n", "ours": "0\n"], "Base")
        try fixture.git("checkout", "-q", "-b", "side")
        let side = try fixture.commit(["both": "1\n", "theirs": nil, "ours": "1\n", "new": "1\n"], "Side")
        try fixture.git("checkout", "-q", "main")
        let main = try fixture.commit(["both": "2\n", "theirs": "2\n", "ours": nil, "new": "2\n"], "Main")
        #expect(
            try repository.merge(side, into: main)
                == .conflicts([
                    MergeConflict(path: "both", kind: "both modified"),
                    MergeConflict(path: "new", kind: "added by both"),
                    MergeConflict(path: "ours", kind: "deleted on target, modified by change"),
                    MergeConflict(path: "theirs", kind: "deleted by change, modified on target"),
                ]))
    }

    @Test func mergesIntoABorrowingStore() throws {
        try fixture.git("checkout", "-q", "-b", "side")
        let side = try fixture.commit(["side": "1"], "Side")
        try fixture.git("checkout", "-q", "main")
        let main = try fixture.commit(["main": "1"], "Main")
        let before = try fixture.git("count-objects")
        let store = try Repository.create(bareAt: fixture["store.git"], borrowing: fixture["work"])
        guard case .merged(let tree) = try store.merge(side, into: main) else {
            Issue.record("a clean merge conflicted")
            return
        }
        let merge = try store.createCommit(
            tree: tree, parents: [main, side], author: ada, committer: ada, message: "Merge\n")
        try store.setRef("refs/pipectl/merge/1", to: merge, expecting: .some(nil), message: "m")
        #expect(try fixture.git("count-objects") == before)
        #expect(!repository.contains(merge))
        let again = try Repository.create(bareAt: fixture["store.git"], borrowing: fixture["work"])
        #expect(try again.ref("refs/pipectl/merge/1") == merge)

        // The workspace borrows the store, which borrows the watched repository.
        try again.checkout(merge, into: fixture["space"])
        #expect(try fixture.git(["rev-parse", "HEAD"], in: fixture["space"]) == merge.hex)
        #expect(try fixture.git(["status", "--porcelain"], in: fixture["space"]) == "")
        #expect(FileManager.default.fileExists(atPath: fixture["space/side"]))
        let alternates = try String(contentsOfFile: fixture["space/.git/objects/info/alternates"], encoding: .utf8)
        #expect(alternates.split(separator: "\n").count == 2)
        #expect(alternates.split(separator: "\n").allSatisfy { $0.hasPrefix("/") })
        #expect(code { try again.checkout(merge, into: fixture["space"]) } == .exists)
        let none = try #require(OID(hex: String(repeating: "1", count: 40)))
        #expect(code { try again.checkout(none, into: fixture["other"]) } == .notFound)
    }
}
