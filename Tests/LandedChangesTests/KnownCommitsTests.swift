import Foundation
import Git
import GitFixture
import Testing

@testable import LandedChanges

/// Commits that were read once are not read again, and the answers stay the same.
@Suite(.timeLimit(.minutes(2))) struct KnownCommitsTests {
    let fixture: Fixture
    let repository: Repository
    let changes: [ChangeHead]
    var file: String { fixture["known-commits"] }

    /// 120 commits of the target, and 40 changes with two commits each, which fork off at different commits.
    init() throws {
        let fixture = try Fixture()
        self.fixture = fixture
        repository = try fixture.store()
        var stream = ""
        func commit(_ branch: String, from: String?, _ time: Int, _ path: String, by author: String = "Ada") {
            stream += "commit refs/heads/\(branch)\n"
            for role in ["author", "committer"] {
                stream += "\(role) \(author) <\(author)@x> \(1_700_000_000 + time) +0000\n"
            }
            stream += "data 4\nWork\n" + (from.map { "from \($0)\n" } ?? "")
            stream += "M 100644 inline \(path)\ndata <<END\n\(branch) \(time)\nEND\n\n"
        }
        for number in 0..<120 {
            commit("main", from: nil, number * 10, "file-\(number)")
            if number % 3 == 0 {
                commit("change/\(number)", from: "refs/heads/main", number * 10 + 1, "change-\(number)")
                commit("change/\(number)", from: nil, number * 10 + 2, "second-\(number)")
            }
        }
        try fixture.git(["fast-import", "--quiet"], in: fixture["store"], input: stream)
        changes = try stride(from: 0, to: 120, by: 3).map { number in
            let hex = try #require(
                OID(hex: Self.trimmed(fixture.git(["rev-parse", "change/\(number)"], in: fixture["store"]))))
            return ChangeHead(name: "\(number)", head: hex)
        }
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }

    private func id(_ revision: String) throws -> OID { try repository.resolve(revision) }

    /// A commit by Ada on `parent` with the tree of `tree`. The branch moves to it.
    @discardableResult
    private func commit(_ branch: String, _ tree: String, on parent: String) throws -> OID {
        let made = Self.trimmed(
            try fixture.git(
                ["commit-tree", "\(tree)^{tree}", "-p", parent, "-m", "A commit"], in: fixture["store"]))
        try fixture.git(["branch", "-f", branch, made], in: fixture["store"])
        return try #require(OID(hex: made))
    }

    /// The landings with the file, which must be the same as without it; and how many commits were read.
    @discardableResult
    private func look(_ old: OID?, _ new: OID) throws -> (landings: [LandedChange], index: LandingIndex) {
        let known = KnownCommits(file: file) ?? KnownCommits()
        let index = try LandingIndex(repository, from: old, to: new, known)
        let draft = try index.draft(changes)
        index.knownCommits.keep(in: file, for: changes.map(\.head))
        let fresh = try LandingIndex(repository, from: old, to: new).draft(changes)
        func answers(_ draft: LandingDraft) throws -> [LandedChange] {
            try draft.landings { try repository.confirms($0) }
        }
        #expect(try answers(draft) == answers(fresh))
        return (try answers(draft), index)
    }

    @Test func `changes are read once`() throws {
        let old = try id("main")
        let first = try commit("main", "change/3", on: "main")
        let (none, cold) = try look(old, first)
        #expect(none == [] && cold.knownCommits.reads == 121 + 80)
        try fixture.git(["branch", "-f", "main", old.hex], in: fixture["store"])
        // The branch was moved back meanwhile, so the history is read anew.
        let squash = try squash(117)
        let (landings, warm) = try look(old, squash)
        #expect(landings.map(\.change) == ["117"])
        #expect(warm.knownCommits.reads <= 121, "the changes' commits are known")
    }

    @Test func `later commits cost only what they change`() throws {
        try look(id("main~1"), id("main"))
        var old = try id("main")
        for number in [114, 117] {
            let squash = try squash(number)
            let (landings, index) = try look(old, squash)
            #expect(landings.map(\.change) == ["\(number)"])
            #expect(index.knownCommits.reads <= 2)
            // All changes are by the author of the commit; one has its files.
            #expect(index.comparisons == 1)
            old = squash
        }
    }

    /// Lands a change on main as one commit that does not name it.
    private func squash(_ number: Int) throws -> OID {
        let tree = Self.trimmed(
            try fixture.git(["merge-tree", "--write-tree", "main", "change/\(number)"], in: fixture["store"]))
        return try commit("main", tree, on: "main")
    }

    @Test func `replaced histories and older ones are read again`() throws {
        let (old, whole) = (try id("main"), try id("main~1"))
        try look(whole, old)
        // A forced push: the cached history no longer belongs to the branch, and later it does again.
        try fixture.git(["branch", "-f", "main", "main~20"], in: fixture["store"])
        let replaced = try squash(60)
        #expect(try look(old, replaced).landings.map(\.change) == ["60"])
        #expect(try look(replaced, old).landings == [])
        #expect(try look(nil, old).landings == [])
        // Ranges of the past, which must not replace what is cached for the present.
        let kept = try Data(contentsOf: URL(fileURLWithPath: file))
        let (_, past) = try look(id("\(old.hex)~50"), id("\(old.hex)~40"))
        #expect(past.knownCommits.reads <= 40)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == kept)
    }

    @Test func `a removed commit is not needed`() throws {
        try look(id("main~1"), id("main"))
        let old = try id("main")
        // The history of a commit that was garbage-collected since.
        let missing = try #require(OID(hex: String(repeating: "1", count: 40)))
        let known = try #require(KnownCommits(file: file))
        let gone = KnownCommits(history: known.history + [KnownCommits.Line(id: missing, parents: [119])], own: [])
        let squash = try squash(117)
        let index = try LandingIndex(repository, from: old, to: squash, gone)
        #expect(try index.draft(changes).landings(confirmed: []).map(\.change) == ["117"])
    }

    @Test func `a damaged file is ignored`() throws {
        try look(id("main~1"), id("main"))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        func known(_ bytes: [UInt8]) -> KnownCommits? { bytes.withUnsafeBytes { KnownCommits(bytes: $0) } }
        let whole = try #require(known(bytes))
        #expect(whole.history.count == 120 && whole.own.count == 80)
        #expect(whole.bytes(for: changes.map(\.head)) == bytes)
        for count in stride(from: 0, to: bytes.count, by: 97) { #expect(known(Array(bytes[..<count])) == nil) }
        for place in stride(from: 0, to: bytes.count, by: 31) {
            var damaged = bytes
            damaged[place] ^= 0x10
            #expect(known(damaged) == nil)
        }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file))
        try look(id("main~1"), id("main"))
        #expect(KnownCommits(file: file) == whole)
    }
}
