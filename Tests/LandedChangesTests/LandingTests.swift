import Foundation
import Git
import GitFixture
import Testing

@testable import LandedChanges

@Suite(.timeLimit(.minutes(2))) struct LandingTests {
    let fixture: Fixture
    let repository: Repository
    let start: OID
    init() throws {
        fixture = try Fixture()
        repository = try Repository(opening: fixture.repository())
        start = try fixture.commit(["a": (1...60).map { "line \($0)\n" }.joined()], "Start")
    }

    /// Makes a branch `change/<name>` off `base` with one commit for each set of files.
    private func change(_ name: String, off base: String = "main", _ commits: [[String: String?]]) throws -> ChangeHead
    {
        try fixture.git("checkout", "-q", "-b", "change/\(name)", base)
        var head = try fixture.id("HEAD")
        for (number, files) in commits.enumerated() { head = try fixture.commit(files, "Work \(name).\(number)") }
        try fixture.git("checkout", "-q", "main")
        return ChangeHead(name: name, head: head)
    }

    private func landings(_ changes: [ChangeHead], from old: OID? = nil) throws -> [LandedChange] {
        try Landings.recognise(changes, in: repository, from: old, to: fixture.id("main"))
    }

    private func text(_ edits: [Int: String]) -> String { (1...60).map { "\(edits[$0] ?? "line \($0)")\n" }.joined() }

    @Test func mergeFastForwardSquashRebase() throws {
        let merged = try change("1", [["m": "1"], ["m": "2"]])
        let squashed = try change("2", [["a": text([50: "fifty"])], ["s": "new"]])
        let rebased = try change("3", [["r": "1"], ["r": "2"], ["q": "1"]])
        let open = try change("4", [["o": "1"]])
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #1 from x/y", "change/1")
        let merge = try fixture.id("main")
        try fixture.commit(["a": text([2: "two"])], "Direct")
        try fixture.git("merge", "-q", "--squash", "change/2")
        let squash = try fixture.commit([:], "Two things (#2)")
        try fixture.git("checkout", "-q", "change/3")
        try fixture.git("rebase", "-q", "main")
        try fixture.git("checkout", "-q", "main")
        try fixture.git("merge", "-q", "--ff-only", "change/3")
        let rebase = try fixture.id("main")
        let forwarded = try change("5", [["f": "1"], ["f": "2"]])
        try fixture.git("merge", "-q", "--ff-only", "change/5")
        let found = try landings([merged, squashed, rebased, open, forwarded])
        #expect(
            found == [
                LandedChange(change: "1", head: merged.head, commit: merge, how: .merge),
                LandedChange(change: "2", head: squashed.head, commit: squash, how: .squash),
                LandedChange(change: "3", head: rebased.head, commit: rebase, how: .rebase),
                LandedChange(change: "5", head: forwarded.head, commit: forwarded.head, how: .fastForward),
            ])
        #expect(try landings([merged, squashed, rebased, open, forwarded], from: squash).map(\.change) == ["3", "5"])
        #expect(try landings([merged, squashed, rebased], from: rebase) == [])
    }

    @Test func `partly landed changes and empty heads are not claimed`() throws {
        let part = try change("1", [["p": "1"], ["q": "1"]])
        let empty = ChangeHead(name: "2", head: try fixture.id("main"))
        let missing = ChangeHead(name: "3", head: try #require(OID(hex: String(repeating: "1", count: 40))))
        try fixture.git("cherry-pick", "change/1~1")
        #expect(try landings([part, empty, missing], from: start) == [])
        try fixture.git("cherry-pick", "change/1")
        #expect(try landings([part, empty, missing], from: start).map(\.change) == ["1"])
    }

    @Test func `an interrupted row of commits is no rebase`() throws {
        let row = try change("1", [["p": "1"], ["q": "1"]])
        try fixture.git("cherry-pick", "change/1~1")
        try fixture.commit(["p": "changed"], "In between, same file")
        try fixture.git("cherry-pick", "change/1")
        #expect(try landings([row]) == [])
    }

    @Test func `a squash onto a moved target is recognised by its merge result`() throws {
        // Both sides add the same line, so the squash adds less than the change did.
        let head = try change("1", [["a": text([10: "ten", 50: "fifty"]), "n": "1"]])
        try fixture.commit(["a": text([10: "ten"])], "The same line (#9)")
        try fixture.git("merge", "-q", "--squash", "change/1")
        let squash = try fixture.commit([:], "Squash (#1)")
        #expect(try landings([head]) == [LandedChange(change: "1", head: head.head, commit: squash, how: .squash)])
    }

    @Test func squashOfAMovedFile() throws {
        let head = try change("1", [["a": text([30: "thirty"])]])
        try fixture.git("mv", "a", "b")
        try fixture.commit([:], "Move")
        try fixture.git("cherry-pick", "--no-commit", "change/1")
        let squash = try fixture.commit([:], "Squash (#1)")
        #expect(try landings([head]) == [LandedChange(change: "1", head: head.head, commit: squash, how: .squash)])
    }

    @Test func `stacked changes land together`() throws {
        let lower = try change("1", [["l": "1"]])
        let upper = try change("2", off: "change/1", [["u": "1"]])
        try fixture.git("merge", "-q", "--squash", "change/2")
        let squash = try fixture.commit([:], "Both (#2)")
        #expect(try landings([lower, upper]).map(\.commit) == [squash, squash])
        #expect(try landings([lower, upper]).map(\.how) == [.inside, .squash])
        #expect(try landings([lower]) == [], "alone it is one of two parts")
    }

    @Test func `the upper change does not land with the lower one`() throws {
        let lower = try change("1", [["l": "1"]])
        let upper = try change("2", off: "change/1", [["u": "1"]])
        try fixture.git("merge", "-q", "--squash", "change/1")
        try fixture.commit([:], "Lower (#1)")
        #expect(try landings([lower, upper]).map(\.change) == ["1"])
        try fixture.git("merge", "-q", "--squash", "change/2")
        let squash = try fixture.commit([:], "Upper (#2)")
        #expect(try landings([lower, upper]).last?.commit == squash)
    }

    @Test func `equal changes are distinguished by number`() throws {
        let first = try change("1", [["x": "1"]])
        let second = try change("2", [["x": "1"]])
        try fixture.git("merge", "-q", "--squash", "change/2")
        try fixture.commit([:], "X (#2)")
        #expect(try landings([first, second]).map(\.change) == ["2"])
    }

    @Test func `a revert does not land what it reverts`() throws {
        let head = try change("1", [["x": "1"]])
        try fixture.git("merge", "-q", "--squash", "change/1")
        let squash = try fixture.commit([:], "X (#1)")
        try fixture.git("revert", "--no-edit", "HEAD")
        #expect(try landings([head]) == [LandedChange(change: "1", head: head.head, commit: squash, how: .squash)])
        #expect(try landings([head], from: squash) == [])
    }

    @Test func `a head moved back to the target brought nothing`() throws {
        let real = try change("1", [["x": "1"]])
        try fixture.git("merge", "-q", "--squash", "change/1")
        let squash = try fixture.commit([:], "X (#1)")
        #expect(try landings([real, ChangeHead(name: "2", head: squash)]).map(\.change) == ["1"])
    }

    @Test func `a head on another change's landing commit in a branch brought nothing`() throws {
        // "Merge pull request #2" on a branch that is merged later; somebody's change 1 was moved onto that merge.
        let real = try change("2", [["x": "1"]])
        try fixture.git("checkout", "-q", "-b", "development")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #2 from x/y", "change/2")
        let landing = try fixture.id("HEAD")
        try fixture.git("checkout", "-q", "main")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge branch 'development'", "development")
        #expect(try landings([ChangeHead(name: "1", head: landing), real]).map(\.change) == ["2"])
    }

    @Test func `a change that contains another is recognised by its name`() throws {
        let inner = try change("2", [["x": "1"]])
        try fixture.git("checkout", "-q", "-b", "outer")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #2 from x/y", "change/2")
        let outer = ChangeHead(name: "1", head: try fixture.id("HEAD"))
        try fixture.git("checkout", "-q", "main")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #1 from x/outer", "outer")
        #expect(try landings([outer, inner]).map(\.change) == ["1", "2"])
    }

    @Test(arguments: ["X (#2)", "X"]) func `of two changes with one head, the named one landed`(message: String) throws
    {
        let second = try change("2", [["x": "1"], ["y": "1"]])
        let first = ChangeHead(name: "1", head: second.head)
        try fixture.git("merge", "-q", "--squash", "change/2")
        try fixture.commit([:], message)
        #expect(try landings([first, second]).map(\.change) == (message == "X" ? ["1", "2"] : ["2"]))
    }

    @Test func `a twin of a merged change did not land`() throws {
        let second = try change("2", [["x": "1"]])
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #2 from x/y", "change/2")
        #expect(try landings([ChangeHead(name: "1", head: second.head), second]).map(\.change) == ["2"])
    }

    @Test func `an empty commit that names a change with an existing effect landed it`() throws {
        let head = try change("1", [["a": text([30: "thirty"])]])
        try fixture.commit(["a": text([30: "thirty"])], "The same by hand (#9)")
        let empty = try fixture.commit([:], "Squash (#1)")
        #expect(try landings([head, ChangeHead(name: "9", head: start)], from: start).map(\.commit) == [empty])
    }

    @Test func `an unreadable blob does not hide a change with equal trees`() throws {
        // Content without a readable difference of lines; the ids in the trees still match.
        let head = try change("1", [["a": text([30: "thirty"])]])
        try fixture.git("merge", "-q", "--squash", "change/1")
        let squash = try fixture.commit([:], "Squash (#1)")
        let blob = try fixture.git("rev-parse", "HEAD:a").trimmingCharacters(in: .whitespacesAndNewlines)
        try FileManager.default.removeItem(
            atPath: "\(fixture["work"])/.git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))")
        #expect(try landings([head]) == [LandedChange(change: "1", head: head.head, commit: squash, how: .squash)])
    }

    @Test func binaryContentsCount() throws {
        let head = try change("1", [["bin": "a\0b"]])
        try fixture.commit(["bin": "a\0c"], "Other bytes")
        #expect(try landings([head]) == [])
    }

    @Test(arguments: [
        ("Merge pull request #12 from a/b", 12), ("Title (#34)", 34), ("Revert \"x (#1)\" (#2)", 2),
        ("Merge pull request 'x' (#7) from b into main", 7), ("Title\n\nSee merge request g/p!56", 56),
    ])
    func namedChanges(message: String, number: Int) {
        #expect(NamedChange.number(in: message) == number)
    }

    @Test(arguments: ["", "Fix #12", "Title (#x)", "(#1) first"])
    func unnamedChanges(message: String) {
        #expect(NamedChange.number(in: message) == nil)
    }

    @Test func `a stretch knows its main line without the older history`() throws {
        let ids = try (1...4).map { try #require(OID(hex: String(repeating: "\($0)", count: 40))) }
        // 4 merges 3, whose parent is 2, into 1, which is older than the stretch.
        let history = TargetHistory(
            commits: [(ids[3], [ids[0], ids[2]]), (ids[2], [ids[1]]), (ids[1], [ids[0]])], from: nil, to: ids[3])
        let node = { history.nodes[ids[$0]] ?? -1 }
        #expect(history.mainline == [node(3)])
        #expect(history.bringer(of: node(1)) == node(3) && history.bringer(of: node(2)) == node(3))
    }

    @Test func `a stretch with only merges needs no older history`() throws {
        let first = try change("1", [["x": "1"], ["y": "1"]])
        let second = try change("2", [["z": "1"]])
        let old = try fixture.id("main")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #1 from x/y", "change/1")
        let merge = try fixture.id("main")
        try fixture.git("merge", "-q", "--no-ff", "-m", "Merge pull request #2 from x/z", "change/2")
        let stretch = try #require(try LandingStretch(repository, from: old, to: fixture.id("main")))
        #expect(stretch.draft([first, second])?.landings(confirmed: []).map(\.change) == ["1", "2"])
        #expect(try landings([first, second], from: old).first?.commit == merge)
        #expect(try landings([first, second], from: merge).map(\.change) == ["2"])
        try fixture.commit(["w": "1"], "By hand")
        let longer = try #require(try LandingStretch(repository, from: old, to: fixture.id("main")))
        #expect(longer.draft([first, second]).map { _ in true } == nil, "a commit that may have landed something")
    }

    @Test func `the history answers questions without a repository`() throws {
        let ids = try (1...5).map { try #require(OID(hex: String(repeating: "\($0)", count: 40))) }
        // 1 - 2 ----- 5, and 1 - 3 - 4 merged by 5
        let history = TargetHistory(
            commits: [
                (ids[4], [ids[1], ids[3]]), (ids[3], [ids[2]]), (ids[2], [ids[0]]), (ids[1], [ids[0]]), (ids[0], []),
            ], from: ids[0], to: ids[4])
        let node = { history.nodes[ids[$0]] ?? -1 }
        #expect(history.mainline == [node(0), node(1), node(4)])
        #expect(history.bringer(of: node(2)) == node(4) && history.isOnMainline(node(1)))
        #expect(history.isAncestor(node(2), of: node(3)) && !history.isAncestor(node(1), of: node(3)))
        #expect(history.newest(of: [node(0), node(2), node(1)]).sorted() == [node(1), node(2)].sorted())
        #expect(history.entries[node(0)].isOld && !history.entries[node(1)].isOld)
    }

    @Test func `a change with a tree that unfolds without end blocks no other change`() throws {
        let store = try fixture.store()
        func commit(_ tree: OID, _ parents: [OID]) throws -> OID {
            try store.createCommit(tree: tree, parents: parents, author: ada, committer: ada, message: "One\n")
        }
        let base = try commit(store.createTree(["a": .blob(store.createBlob([1]))]), [])
        let head = try commit(fixture.treeBomb(10, 10), [base])
        let landed = try commit(store.createTree(["a": .blob(store.createBlob([2]))]), [base])
        let changes = [ChangeHead(name: "1", head: head), ChangeHead(name: "2", head: landed)]
        #expect(try Landings.recognise(changes, in: store, from: base, to: landed).map(\.change) == ["2"])
        #expect(try Landings.recognise(changes, in: store, from: base, to: head).map(\.change).contains("1"))
    }
}
