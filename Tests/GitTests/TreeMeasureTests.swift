import Foundation
import GitFixture
import Testing

@testable import Git

/// The tree of a change is measured by ids, before anything of it is unpacked.
@Suite(.timeLimit(.minutes(2))) struct TreeMeasureTests {
    private let fixture: Fixture
    private let repository: Repository

    init() throws {
        fixture = try Fixture()
        repository = try fixture.store()
    }

    @Test func `the measured size is that of a checkout`() throws {
        let blobs = try [[UInt8](repeating: 1, count: 10), [UInt8](repeating: 2, count: 300)].map(repository.createBlob)
        let tree = try repository.createTree(["a": .blob(blobs[0]), "b/c/d": .blob(blobs[1]), "b/e": .blob(blobs[0])])
        var wanted = TreeSize()
        (wanted.entries, wanted.depth, wanted.bytes) = (5, 2, 320)
        (wanted.largestFile, wanted.longestPath) = (300, 5)
        wanted.pathBytes = ["a", "b", "b/c", "b/c/d", "b/e"].joined().utf8.count
        #expect(try repository.measure(tree: tree) == wanted)
        // From a pack it is the same.
        let commit = try repository.createCommit(tree: tree, parents: [], author: ada, committer: ada, message: "One\n")
        try repository.setRef("refs/heads/main", to: commit, message: "test")
        try fixture.git(["repack", "-adq"], in: fixture["store"])
        #expect(try Repository(opening: fixture["store"]).measure(commit: commit) == wanted)
    }

    @Test(arguments: [(10, 10), (10, 60), (9, 150)])
    func `measuring a bomb takes time in proportion to its objects`(_ width: Int, _ levels: Int) throws {
        let tree = try fixture.treeBomb(width, levels)
        let start = ContinuousClock.now
        let excess = #expect(throws: TreeExcess.self) { try repository.measure(tree: tree) }
        #expect(excess?.measure == .entries && excess?.limit == 1_000_000)
        // The number of all entries including folders; if it does not fit, the largest number.
        let count = levels == 10 ? 11_111_111_110 : Int.max
        #expect(excess?.value == count)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    /// Comparing commits or searching for a file meets the same tree without measuring it.
    @Test func `comparing a bomb does not unfold it`() throws {
        let small = try repository.createTree(["a": .blob(repository.createBlob([1]))])
        func commit(_ tree: OID, _ parents: [OID]) throws -> OID {
            try repository.createCommit(tree: tree, parents: parents, author: ada, committer: ada, message: "One\n")
        }
        let base = try commit(small, [])
        let head = try commit(fixture.treeBomb(10, 10), [base])
        #expect(code { try repository.diff(from: base, to: head) } == .tooLarge)
        #expect(code { try repository.diff(from: nil, to: head) } == .tooLarge)
        #expect(code { try repository.hunks(from: base, to: head, maximumBytes: 1_000, maximumHunks: 10) } == .tooLarge)
        #expect(code { try repository.patch(from: base, to: head, maximumBytes: 1_000) } == .tooLarge)
        #expect(code { try repository.merge(head, into: commit(small, [base])) } == .tooLarge)
        #expect(code { try repository.entries(ofTree: repository.commit(head).tree, recursive: true) } == .tooLarge)
    }

    @Test func `a tree that no workspace can hold is refused with a reason`() throws {
        let blob = try repository.createBlob([1])
        func measure(_ path: String, _ limits: TreeLimits = TreeLimits()) throws -> TreeExcess? {
            let tree = try repository.createTree([path: .blob(blob)])
            do { _ = try repository.measure(tree: tree, limits: limits) } catch let excess as TreeExcess {
                return excess
            }
            return nil
        }
        #expect(try measure("a/b") == nil)
        #expect(try measure(Array(repeating: "d", count: 300).joined(separator: "/"))?.measure == .depth)
        #expect(try measure(String(repeating: "n", count: 256))?.measure == .nameBytes)
        let long = Array(repeating: String(repeating: "p", count: 200), count: 20).joined(separator: "/")
        #expect(try measure(long)?.measure == .pathLength)
        #expect(try measure("a/b/c", TreeLimits(entries: 2))?.measure == .entries)
    }

    @Test func `a large file is named and not read`() throws {
        let blob = try repository.createBlob([UInt8](repeating: 0, count: 3 << 20))
        let tree = try repository.createTree(["a/zeros": .blob(blob), "small": .blob(repository.createBlob([1]))])
        let excess = #expect(throws: TreeExcess.self) {
            try repository.measure(tree: tree, limits: TreeLimits(fileBytes: 1 << 20))
        }
        #expect(excess?.measure == .fileBytes && excess?.path == "a/zeros")
        #expect(excess?.value == 3 << 20 && excess?.limit == 1 << 20)
        let sum = #expect(throws: TreeExcess.self) {
            try repository.measure(tree: tree, limits: TreeLimits(bytes: 2 << 20))
        }
        #expect(sum?.measure == .bytes && sum?.value == 3 << 20 + 1)
        #expect(code { try repository.blob(blob, atMost: 3 << 20 - 1) } == .tooLarge)
        #expect(try repository.blob(blob, atMost: 3 << 20).count == 3 << 20)
    }

    /// A file of gigabytes that both sides have changed would be in memory three times, with a record for each line.
    @Test func `large files that both sides changed are not merged by lines`() throws {
        func commit(_ bytes: Int, _ byte: UInt8, _ parents: [OID]) throws -> OID {
            let blob = try repository.createBlob([UInt8](repeating: byte, count: bytes))
            return try repository.createCommit(
                tree: repository.createTree(["file": .blob(blob)]), parents: parents, author: ada, committer: ada,
                message: "One\n")
        }
        let base = try commit(9 << 20, 1, [])
        let (target, head, small) = try (commit(9 << 20, 2, [base]), commit(9 << 20, 3, [base]), commit(5, 4, [base]))
        #expect(code { try repository.merge(head, into: target) } == .tooLarge)
        // If one side alone changed it, its id is sufficient.
        #expect(try repository.merge(head, into: base) == .merged(tree: repository.commit(head).tree))
        guard case .conflicts = try repository.merge(small, into: target) else {
            Issue.record("a small file on both sides is a matter of its lines")
            return
        }
    }

    /// The size of a checkout decides which process makes it.
    @Test func `a checkout over another costs only the difference`() throws {
        let large = try repository.createBlob([UInt8](repeating: 0, count: 17 << 20))
        func commit(_ text: String) throws -> OID {
            let files: [String: TreeFile] = [
                "large": .blob(large), "text": .blob(try repository.createBlob(Array(text.utf8))),
            ]
            return try repository.createCommit(
                tree: repository.createTree(files), parents: [], author: ada, committer: ada, message: "One\n")
        }
        let (old, new) = try (commit("a"), commit("bcd"))
        let difference = try repository.difference(
            fromTree: repository.commit(old).tree, to: repository.commit(new).tree)
        let whole = try repository.checkoutCost(new, writing: nil)
        #expect(!whole.isSmall && whole.entries == 2)
        let part = try repository.checkoutCost(new, writing: difference)
        #expect(part.isSmall && part.bytes == 3 && part.entries == 1)
    }
}
