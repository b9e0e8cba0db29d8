import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct RefTests {
    let fixture: Fixture
    init() throws { fixture = try Fixture() }

    @Test func snapshotHasEveryKindOfRef() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        try fixture.git("tag", "light")
        try fixture.git("tag", "-a", "-m", "annotated", "heavy")
        try fixture.git("tag", "-a", "-m", "of a tag", "heavier", "heavy")
        try fixture.git("tag", "tree", "HEAD^{tree}")
        try fixture.git("update-ref", "refs/pull/1/head", head.hex)
        try fixture.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
        try fixture.git("symbolic-ref", "refs/remotes/gone/HEAD", "refs/heads/none")
        let tree = try fixture.id("HEAD^{tree}")
        let wanted = [
            "refs/heads/main": head, "refs/tags/light": head, "refs/tags/heavy": head, "refs/tags/heavier": head,
            "refs/tags/tree": tree, "refs/pull/1/head": head, "refs/remotes/origin/HEAD": head,
        ]
        #expect(try repository.snapshot() == RefSnapshot(refs: wanted, head: "refs/heads/main"))
        try fixture.git("pack-refs", "--all")
        #expect(try Repository(opening: fixture["work"]).snapshot().refs == RefTable(wanted))
        #expect(try repository.snapshot().refs == RefTable(wanted))
        try fixture.git("checkout", "-q", "--detach")
        #expect(try repository.snapshot().head == nil)
    }

    @Test func unbornHead() throws {
        try fixture.git(["init", "-q", "-b", "trunk", fixture["new"]], in: fixture.root)
        let repository = try Repository(opening: fixture["new"])
        #expect(try repository.snapshot() == RefSnapshot(refs: [:], head: "refs/heads/trunk"))
        #expect(code { try repository.resolve("HEAD") } != nil)
    }

    @Test func skipsNamesThatAreNotUTF8() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        // Loose, then packed: written by bytes, since no Swift string holds them.
        let packed =
            Data("# pack-refs with: peeled fully-peeled sorted \n\(head.hex) refs/heads/".utf8)
            + Data([0x62, 0xFF, 0xFE, 0x0A]) + Data("\(head.hex) refs/heads/good\n".utf8)
        try packed.write(to: URL(fileURLWithPath: fixture["work/.git/packed-refs"]))
        #expect(Set(try repository.snapshot().refs.keys) == ["refs/heads/main", "refs/heads/good"])
    }

    /// libgit2 stops reading, without an error, at a ref nested deeper than 100 folders.
    @Test func `a deeply nested ref hides no other ref`() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        try fixture.git("tag", "-a", "-m", "annotated", "v1")
        let names = [
            "refs/heads/a/" + Array(repeating: "d", count: 150).joined(separator: "/"), "refs/heads/with\"quotes\"",
            "refs/heads/" + String(repeating: "n", count: 200), "refs/pull/7/head",
            // Longer than libgit2 has room for where it looks a name up.
            "refs/long/" + Array(repeating: String(repeating: "x", count: 100), count: 20).joined(separator: "/"),
            "refs/tags/" + Array(repeating: "t", count: 120).joined(separator: "/"),
        ]
        for name in names { try fixture.git("update-ref", name, name.hasPrefix("refs/tags") ? "v1^{tag}" : head.hex) }
        try "no id".write(toFile: fixture["work/.git/refs/heads/half.lock"], atomically: false, encoding: .utf8)
        let wanted = Set(names + ["refs/heads/main", "refs/tags/v1"])
        #expect(Set(try repository.snapshot().refs.keys) == wanted)
        #expect(Set(try repository.snapshot().refs.map(\.value)) == [head])
        try fixture.git("pack-refs", "--all")
        #expect(Set(try Repository(opening: fixture["work"]).snapshot().refs.keys) == wanted)
    }

    @Test(arguments: [["K", "\u{212A}"], ["\u{212A}", "K"], ["\u{E9}", "e\u{301}"], ["e\u{301}", "\u{E9}"]])
    func `a branch that only looks like another is not mistaken for it`(names: [String]) throws {
        let repository = try Repository(opening: try fixture.repository())
        for name in names {
            try fixture.git("update-ref", "refs/heads/\(name)", try fixture.commit(["a": name], name).hex)
        }
        let composed = try #require(
            names.first { Array($0.utf8) == Array($0.precomposedStringWithCanonicalMapping.utf8) })
        let kept = try repository.snapshot().refs.filter { $0.key == "refs/heads/\(composed)" }
        #expect(kept.map(\.key).map { Array($0.utf8) } == [Array("refs/heads/\(composed)".utf8)])
        #expect(kept.first?.value == (try fixture.id("refs/heads/\(composed)")))
    }

    @Test func changesBetweenSnapshots() throws {
        let one = try #require(OID(hex: String(repeating: "1", count: 40)))
        let two = try #require(OID(hex: String(repeating: "2", count: 40)))
        let old = RefSnapshot(refs: ["a": one, "b": one, "c": one], head: nil)
        let new = RefSnapshot(refs: ["d": two, "b": two, "c": one], head: "refs/heads/x")
        #expect(
            new.changes(since: old) == [
                RefChange(name: "a", old: one, new: nil), RefChange(name: "b", old: one, new: two),
                RefChange(name: "d", old: nil, new: two),
            ])
    }

    @Test func compareAndSwap() throws {
        let repository = try Repository(opening: try fixture.repository())
        let one = try fixture.id("HEAD")
        let two = try fixture.commit(["a": "1"], "Second")
        let name = "refs/pipectl/x"
        #expect(code { try repository.setRef(name, to: two, expecting: .some(one), message: "m") } == .modified)
        try repository.setRef(name, to: one, expecting: .some(nil), message: "m")
        #expect(code { try repository.setRef(name, to: two, expecting: .some(nil), message: "m") } == .modified)
        #expect(code { try repository.setRef(name, to: two, expecting: .some(two), message: "m") } == .modified)
        #expect(try repository.ref(name) == one)
        try repository.setRef(name, to: two, expecting: .some(one), message: "m")
        try fixture.git("pack-refs", "--all")
        #expect(code { try repository.setRef(name, to: one, expecting: .some(nil), message: "m") } == .modified)
        try repository.setRef(name, to: one, message: "whatever it is")
        #expect(code { try repository.deleteRef(name, expecting: two) } == .modified)
        try repository.deleteRef(name, expecting: one)
        try repository.deleteRef(name)
        #expect(try repository.ref(name) == nil)
        #expect(code { try repository.setRef("no good..name", to: one, message: "m") } == .invalidName)
    }

    @Test func `one of many concurrent creators wins`() async throws {
        let path = try fixture.repository()
        let head = try fixture.id("HEAD")
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await withRepository(at: path) { repository in
                        code { try repository.setRef("refs/x", to: head, expecting: .some(nil), message: "m") } == nil
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wins == 1)
    }

    @Test func `a stale lock is reported`() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        _ = FileManager.default.createFile(atPath: fixture["work/.git/refs/heads/main.lock"], contents: nil)
        let error = #expect(throws: GitError.self) {
            try repository.setRef("refs/heads/main", to: head, message: "m")
        }
        #expect(error?.code == .locked)
        #expect(error?.description.contains(".lock") == true)
    }

    @Test func aHundredThousandPackedRefs() throws {
        let path = try fixture.repository()
        let head = try fixture.id("HEAD")
        var text = "# pack-refs with: peeled fully-peeled sorted \n"
        for number in 100_000..<200_000 { text += "\(head.hex) refs/pull/\(number)/head\n" }
        try text.write(toFile: path + "/.git/packed-refs", atomically: true, encoding: .utf8)
        let repository = try Repository(opening: path)
        let clock = ContinuousClock()
        var best = Duration.seconds(60)
        for _ in 0..<3 {
            var count = 0
            best = try min(best, clock.measure { count = try repository.snapshot().refs.count })
            #expect(count == 100_001)
        }
        print("snapshot of 100,001 refs: \(best)")
        #expect(best < .seconds(2), "a debug build beside other tests; release is measured apart")
    }
}
