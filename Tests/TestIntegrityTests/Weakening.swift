import TestIntegrity
import Pipeline
import Testing

/// One way to weaken tests, and the result of the check.
struct Weakening: Sendable, CustomTestStringConvertible {
    enum Outcome: String, Sendable {
        /// Reported with its file and line.
        case caught
        /// Reported as something that only a person can judge.
        case person
        /// Not found: only a person who reads the difference sees it.
        case unseen
    }

    var name: String
    var old: [String: String]
    var new: [String: String]
    var outcome: Outcome
    var kind: Breach.Kind?
    /// The line of the breach.
    var line: Int?

    var testDescription: String { name }

    /// The body of one test, before and after.
    static func body(
        _ name: String, _ old: String, _ new: String, _ outcome: Outcome = .caught, _ kind: Breach.Kind? = .weakerTest
    ) -> Weakening {
        file(
            name, suite("@Test func sums() throws {\n\(old)\n}"), suite("@Test func sums() throws {\n\(new)\n}"),
            outcome, kind)
    }

    /// One file of tests, before and after.
    static func file(
        _ name: String, _ old: String, _ new: String, _ outcome: Outcome = .caught, _ kind: Breach.Kind? = .removedTest,
        line: Int? = nil
    ) -> Weakening {
        Weakening(
            name: name, old: ["Tests/SumTests/SumTests.swift": old], new: ["Tests/SumTests/SumTests.swift": new],
            outcome: outcome, kind: kind, line: line)
    }

    /// Other files, before and after. A file that only one side has was added or removed.
    static func files(
        _ name: String, _ old: [String: String], _ new: [String: String], _ outcome: Outcome = .caught,
        _ kind: Breach.Kind?
    ) -> Weakening {
        Weakening(name: name, old: old, new: new, outcome: outcome, kind: kind)
    }

    static func suite(_ tests: String) -> String {
        """
        import Testing

        @Suite struct SumTests {
        \(tests)
        @Test func differs() { #expect(difference(7, 2) == 5) }
        }
        """
    }

    static func xctest(_ tests: String, head: String = "final class SumTests: XCTestCase {") -> String {
        "import XCTest\n\n\(head)\n\(tests)\nfunc testDiffers() { XCTAssertEqual(difference(7, 2), 5) }\n}\n"
    }

    /// The breaches that the check reports.
    func breaches(rules: [IntegrityRule] = [.standard]) async -> [Breach] {
        let paths = Set(old.keys).union(new.keys).sorted()
        func content(_ text: String?) -> ChangedSource.Content { text.map { .bytes(Array($0.utf8)) } ?? .missing }
        let files = paths.filter { old[$0] != new[$0] }.map {
            ChangedSource(path: $0, old: content(old[$0]), new: content(new[$0]), additions: 10, deletions: 10)
        }
        let same = paths.filter { old[$0] == new[$0] && TestPaths.isTest($0) }
        let surroundings = IntegrityCheck.Surroundings(
            unchangedTests: { [old] in same.map { ($0, Array((old[$0] ?? "").utf8)) } },
            file: { [old, new] path in (old[path].map { Array($0.utf8) }, new[path].map { Array($0.utf8) }) },
            paths: { [new] in Array(new.keys) })
        return await IntegrityCheck(rules: rules, reader: DirectReader()).breaches(of: files, in: surroundings)
    }
}
