import GitFixture
import CGit
import Foundation
import TestBasics
import Testing

@testable import Git

/// Compares our reading of refs with libgit2's and Git's.
@Suite(.timeLimit(.minutes(2))) struct RefTableTests {
    private static let one = id(1)
    private static let two = id(2)

    private static func id(_ number: Int) -> OID {
        var raw = git_oid()
        withUnsafeMutableBytes(of: &raw.id) { $0[19] = UInt8(truncatingIfNeeded: number) }
        return OID(raw)
    }

    @Test func `the table is sorted by bytes and finds every name`() {
        let names = ["refs/heads/é", "refs/heads/z", "refs/heads/a-b", "refs/heads/a/b", "refs/heads/a", "refs/x"]
        let table = RefTable(names.enumerated().map { (key: $1, value: RefTableTests.id($0)) })
        #expect(Array(table.keys) == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for (number, name) in names.enumerated() { #expect(table[name] == RefTableTests.id(number)) }
        for name in ["", "refs/heads/", "refs/heads/aa", "refs/heads/zz", "refs/y", "refs/heads/e\u{301}"] {
            #expect(table[name] == nil)
        }
    }

    @Test func `a prefix is a slice`() {
        let table: RefTable = [
            "refs/heads/a": RefTableTests.one, "refs/heads/b": RefTableTests.two, "refs/headsy": RefTableTests.one,
            "refs/a": RefTableTests.one,
        ]
        #expect(table.entries(under: "refs/heads/").map(\.key) == ["refs/heads/a", "refs/heads/b"])
        #expect(table.entries(under: "").count == 4)
        #expect(table.entries(under: "refs/tags/").isEmpty)
        #expect(RefTable().entries(under: "refs/").isEmpty)
    }

    @Test(arguments: 0..<40) func `an overlay gives the same refs as a dictionary`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let names = (0..<12).map { "refs/\($0)" }
        var wanted: [String: OID] = [:]
        for name in names where Bool.random(using: &random) { wanted[name] = RefTableTests.one }
        let table = RefTable(wanted)
        var others: [(name: String, id: OID?)] = []
        for name in names.sorted() where Bool.random(using: &random) {
            let id = Bool.random(using: &random) ? RefTableTests.two : nil
            others.append((name, id))
            wanted[name] = id
        }
        #expect(table.overlaid(by: others) == RefTable(wanted))
    }

    @Test(arguments: 0..<40) func `changes are the same as those of dictionaries`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed) + 1_000)
        var (old, new): ([String: OID], [String: OID]) = ([:], [:])
        for number in 0..<20 {
            if Bool.random(using: &random) {
                old["refs/\(number)"] = RefTableTests.id(.random(in: 1...2, using: &random))
            }
            if Bool.random(using: &random) {
                new["refs/\(number)"] = RefTableTests.id(.random(in: 1...2, using: &random))
            }
        }
        let wanted = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { RefChange(name: $0, old: old[$0], new: new[$0]) }
        #expect(RefSnapshot(refs: new, head: nil).changes(since: RefSnapshot(refs: old, head: nil)) == wanted)
    }

    /// Loose refs over packed ones, tags of every kind, symbolic refs, a work tree: the same as libgit2 lists.
    @Test func `it reads the same refs as libgit2`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        try fixture.git("tag", "-a", "-m", "annotated", "heavy")
        try fixture.git("tag", "-a", "-m", "of a tag", "heavier", "heavy")
        try fixture.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
        try fixture.git("symbolic-ref", "refs/remotes/gone/HEAD", "refs/heads/none")
        for number in 1...5 { try fixture.git("update-ref", "refs/pull/\(number)/head", "HEAD") }
        func check(_ what: Comment) throws {
            let repository = try Repository(opening: path)
            let all = try repository.tableOfLibrary()
            #expect(try repository.snapshot().refs == all, what)
            for prefix in ["refs/heads/", "refs/tags/", "refs/pull/", "refs/none/"] {
                #expect(try repository.snapshot(under: prefix).refs == RefTable(all.entries(under: prefix)), what)
            }
        }
        try check("all loose")
        try fixture.git("pack-refs", "--all")
        try check("all packed")
        _ = try fixture.commit(["a": "1"], "Second")
        for number in [2, 4, 9] { try fixture.git("update-ref", "refs/pull/\(number)/head", "HEAD") }
        try fixture.git("tag", "-a", "-m", "young", "young")
        try fixture.git("tag", "-f", "heavy")
        try fixture.git("update-ref", "-d", "refs/pull/3/head")
        try check("loose over packed")
        try fixture.git("worktree", "add", "-q", "--detach", fixture["beside"])
        #expect(try Repository(opening: fixture["beside"]).snapshot().refs == Repository(opening: path).snapshot().refs)
    }

    /// Only libgit2 can read these forms.
    @Test(arguments: [
        "# pack-refs with: peeled \n", "", "# pack-refs with: peeled fully-peeled sorted \n^x\n",
        "# pack-refs with: peeled fully-peeled sorted \nnonsense\n",
    ]) func `other forms are left to libgit2`(header: String) throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let head = try fixture.id("HEAD").hex
        // Not sorted, either.
        let text = header + "\(head) refs/pull/2/head\n\(head) refs/pull/1/head\n"
        try text.write(toFile: "\(path)/.git/packed-refs", atomically: true, encoding: .utf8)
        #expect(PackedRefs("\(path)/.git/packed-refs") == nil)
        // Each in a repository of its own: libgit2 reports a damaged file only once.
        let wanted = Result { try Repository(opening: path).tableOfLibrary() }
        let found = Result { try Repository(opening: path).snapshot().refs }
        #expect((try? found.get()) == (try? wanted.get()))
    }

    @Test func `a half-written loose ref is left to libgit2`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        try Data("12".utf8).write(to: URL(fileURLWithPath: "\(path)/.git/refs/heads/half"))
        #expect(LooseRefs(in: "\(path)/.git").hasOthers)
        #expect(RefStamp(gitDirectory: "\(path)/.git") == nil)
        let repository = try Repository(opening: path)
        #expect(try repository.snapshot().refs == repository.tableOfLibrary())
    }
}
