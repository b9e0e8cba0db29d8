import Foundation
import Pipeline
import Testing

@testable import TestIntegrity

/// Weakenings of tests are reported, and nothing else is.
@Suite struct IntegrityCheckTests {
    @Test(arguments: Weakening.inTests + Weakening.inBodies + Weakening.inOtherFiles)
    func weakened(_ way: Weakening) async throws {
        let breaches = await way.breaches()
        guard way.outcome != .unseen else { return #expect(breaches.isEmpty) }
        let breach = try #require(breaches.first { $0.kind == way.kind }, "\(breaches)")
        #expect(breach.certainty == (way.outcome == .caught ? .seen : .unclear))
        #expect(way.old.keys.contains(breach.file) || way.new.keys.contains(breach.file))
        #expect(breach.line != nil || breach.kind == .loneSnapshot)
        if let line = way.line { #expect(breach.line == line) }
    }

    @Test func `the table has as many lines as promised`() {
        let ways = Weakening.inTests + Weakening.inBodies + Weakening.inOtherFiles
        #expect(ways.count { $0.outcome != .unseen } >= 60)
        #expect(Set(ways.map(\.name)).count == ways.count)
    }

    @Test(arguments: Weakening.honest) func honest(_ change: Weakening) async {
        #expect(await change.breaches().isEmpty)
    }

    @Test(arguments: Weakening.inTests + Weakening.inBodies)
    func backwards(_ way: Weakening) async {
        // Stronger tests need no approval: the same difference in the other direction, where the check can tell. A
        // replaced test is removed in both directions.
        let strict: Set<Breach.Kind> = [.weakerTest, .addedSleep, .widerTolerance, .fewerCases]
        guard let kind = way.kind, strict.contains(kind), way.outcome == .caught else { return }
        var other = way
        (other.old, other.new) = (way.new, way.old)
        #expect(!(await other.breaches()).contains { $0.kind == kind })
    }

    @Test func `a file that is moved out of the target is found`() async throws {
        let test = Array(Weakening.suite("@Test func sums() { #expect(sum(1, 2) == 3) }").utf8)
        let manifest = Array("let p = Package(targets: [.testTarget(name: \"SumTests\")])".utf8)
        let file = ChangedSource(
            path: "Tests/Old/SumTests.swift", oldPath: "Tests/SumTests/SumTests.swift", old: .bytes(test),
            new: .bytes(test))
        let breaches = await IntegrityCheck(rules: [.standard], reader: DirectReader()).breaches(
            of: [file], in: .init(file: { _ in (manifest, manifest) }))
        #expect(breaches.map(\.kind) == [.hiddenTests])
    }

    @Test func `rules about paths name the path`() async {
        func file(_ path: String) -> ChangedSource {
            ChangedSource(path: path, old: .missing, new: .bytes([]), additions: 30, deletions: 20)
        }
        func kinds(_ rule: IntegrityRule, _ paths: String...) async -> [Breach.Kind] {
            await IntegrityCheck(rules: [rule], reader: DirectReader()).breaches(of: paths.map(file)).map(\.kind)
        }
        #expect(await kinds(.untouched("LICENSE", "docs/**"), "docs/a/b.md") == [.touchedPath])
        #expect(await kinds(.untouched("LICENSE"), "LICENSES") == [])
        #expect(await kinds(.changing("Sources/**", requires: "Tests/**"), "Sources/a.swift") == [.missingCompanion])
        #expect(await kinds(.changing("Sources/**", requires: "Tests/**"), "Sources/a.swift", "Tests/a.swift") == [])
        #expect(await kinds(.changing("Sources/**", requires: "Tests/**"), "README.md") == [])
        #expect(await kinds(.untouched("["), "README.md") == [.touchedPath], "a rule that can't be read does not hold")
        #expect(await kinds(.atMost(lines: 99), "a", "b") == [.largeChange])
        #expect(await kinds(.atMost(lines: 100), "a", "b") == [])
        #expect(await kinds(.atMost(lines: 1_000, files: 1), "a", "b") == [.largeChange])
    }

    /// A `.gitattributes` decides with which bytes the files below it are checked out.
    @Test(arguments: [
        ([".gitattributes"], "Sources/Legacy/**", 1), (["Sources/.gitattributes"], "Sources/Legacy/**", 1),
        (["Sources/Legacy/a/.GitAttributes"], "Sources/Legacy/**/*.c", 1),
        (["docs/.gitattributes"], "Sources/Legacy/**", 0), (["docs/.gitattributes"], "LICENSE", 0),
        (["docs/x.gitattributes"], "docs/a", 0), (["docs/.gitattributes"], "**/*.md", 1),
    ])
    func `the attributes of an untouched file are untouched`(paths: [String], glob: String, count: Int) async {
        let files = paths.map { ChangedSource(path: $0, old: .missing, new: .bytes([]), additions: 1, deletions: 0) }
        let check = IntegrityCheck(rules: [.untouched(glob)], reader: DirectReader())
        let breaches = await check.breaches(of: files)
        #expect(breaches.map(\.kind) == Array(repeating: .touchedPath, count: count))
        #expect(breaches.map(\.file) == Array(paths.prefix(count)))
        let moved = paths.map {
            ChangedSource(path: "elsewhere", oldPath: $0, old: .bytes([]), new: .bytes([]), additions: 0, deletions: 0)
        }
        #expect(await check.breaches(of: moved).count == count)
    }

    @Test func `only the given rules are checked`() async {
        let way = Weakening.body("x", "#expect(a == 1)", "usleep(1)", .caught)
        #expect(Set(await way.breaches().map(\.kind)) == [.weakerTest, .addedSleep])
        #expect(await way.breaches(rules: [.noAddedSleeps]).map(\.kind) == [.addedSleep])
        #expect(await way.breaches(rules: [.noRemovedTests]).isEmpty)
    }
}

/// docs/weakenings.md has a line with the outcome for each tested way, and no other line.
@Suite struct WeakeningTableTests {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/weakenings.md")

    private static var table: String {
        let words: [Weakening.Outcome: String] = [
            .caught: "caught", .person: "needs a person", .unseen: "not detectable",
        ]
        let rows = [
            ("Tests", Weakening.inTests), ("Bodies", Weakening.inBodies), ("Other files", Weakening.inOtherFiles),
        ]
        .map { title, ways in
            "\n## \(title)\n\n| Way | Outcome | Finding |\n| --- | --- | --- |\n"
                + ways.map { way in
                    let name = way.name.replacing("|", with: "\\|")
                    let kind = way.kind.map { "`integrity-\($0.rawValue)`" } ?? "–"
                    return "| \(name) | \(words[way.outcome] ?? "") | \(way.outcome == .unseen ? "–" : kind) |\n"
                }.joined()
        }
        return """
            # Ways to weaken tests

            What `pipectl integrity` and a workflow with `.testIntegrity()` make of each, by their sources alone; what a \
            run's results tell beyond that is in [integrity.md](integrity.md). The tests in `Tests/TestIntegrityTests` check \
            each line and write this page: `PIPECTL_WRITE_TABLES=1 swift test --filter WeakeningTableTests`.

            """ + rows.joined()
    }

    @Test func `the page has the tested lines`() throws {
        if ProcessInfo.processInfo.environment["PIPECTL_WRITE_TABLES"] == "1" {
            try Data(Self.table.utf8).write(to: Self.path)
        }
        #expect(try String(decoding: Data(contentsOf: Self.path), as: UTF8.self) == Self.table)
    }
}
