import Results
import Testing

@testable import Archive
@testable import Git

struct RecentTestResultsTests {
    private func file(_ number: Int) throws -> OID {
        try #require(OID(hex: String(repeating: "0", count: 39) + "\(number)"))
    }

    private func tests(_ name: String) -> [TestResult] { [TestResult(suite: "S", name: name, status: .passed)] }

    @Test func `a file is read once`() throws {
        let recent = RecentTestResults()
        var reads = 0
        for _ in 0..<3 {
            let found = recent.results(of: try file(1)) {
                reads += 1
                return (tests("a"), 100)
            }
            #expect(found.map(\.name) == ["a"])
        }
        #expect(reads == 1)
        #expect(recent.results(of: try file(2)) { (tests("b"), 100) }.map(\.name) == ["b"])
    }

    @Test func `what was used longest ago goes first, and a file over the limit is not kept`() throws {
        let recent = RecentTestResults()
        var reads: [Int] = []
        func read(_ number: Int, megabytes: Int) throws {
            _ = recent.results(of: try file(number)) {
                reads.append(number)
                return (tests("\(number)"), megabytes << 20)
            }
        }
        try read(1, megabytes: 3)
        try read(2, megabytes: 3)
        try read(1, megabytes: 3)
        try read(3, megabytes: 4)
        try read(1, megabytes: 3)
        try read(2, megabytes: 3)
        try read(4, megabytes: 9)
        try read(4, megabytes: 9)
        #expect(reads == [1, 2, 3, 2, 4, 4])
    }

    @Test func `a file that can't be read is asked for again`() throws {
        struct Gone: Error {}
        let recent = RecentTestResults()
        #expect(throws: Gone.self) { try recent.results(of: try file(1)) { throw Gone() } }
        #expect(recent.results(of: try file(1)) { (tests("a"), 1) }.count == 1)
    }
}
