import MachinePool
import Testing

@Suite struct ShardSplitTests {
    /// 5,000 tests from 1 ms to some seconds: most are short and few are long, as in real suites.
    private let durations: [Double] = (0..<5_000).map { number in
        let share = Double((number * 7_919) % 5_000) / 5_000
        return 0.001 / (1.0003 - share)
    }

    private func seconds(_ part: [ShardSplit.Test]) -> Double {
        part.reduce(0) { sum, test in sum + (Int(test.id).map { durations[$0] } ?? 0) }
    }

    @Test func `after one run, four parts take at most 1.15 times the ideal`() {
        // The earlier run measured each test with an error of up to 10 %, and 100 tests are new.
        let tests = durations.indices.map { number -> ShardSplit.Test in
            let error = 0.9 + Double((number * 31) % 200) / 1_000
            return ShardSplit.Test(String(number), seconds: number % 50 == 7 ? nil : durations[number] * error)
        }
        let parts = ShardSplit.parts(of: tests, among: 4)
        let ideal = durations.reduce(0, +) / 4
        #expect(parts.flatMap { $0 }.map(\.id).sorted() == tests.map(\.id).sorted())
        #expect((parts.map(seconds).max() ?? .infinity) <= 1.15 * ideal)
    }

    @Test func `without any duration the tests are divided by number`() {
        let parts = ShardSplit.parts(of: durations.indices.map { ShardSplit.Test(String($0)) }, among: 4)
        #expect(parts.map(\.count) == [1_250, 1_250, 1_250, 1_250])
    }

    @Test func `the order of the input does not change the split`() {
        let tests = durations.indices.map { ShardSplit.Test(String($0), seconds: durations[$0]) }
        let parts = ShardSplit.parts(of: tests, among: 3).map { Set($0.map(\.id)) }
        #expect(ShardSplit.parts(of: tests.reversed(), among: 3).map { Set($0.map(\.id)) } == parts)
    }

    @Test(arguments: [0, 1, 3, 10]) func `every test is in exactly one part`(count: Int) {
        let tests = ["a", "b", "c", "d"].map { ShardSplit.Test($0, seconds: $0 == "a" ? .nan : 0) }
        let parts = ShardSplit.parts(of: tests, among: count)
        #expect(parts.count == max(count, 1))
        #expect(parts.flatMap { $0 }.map(\.id).sorted() == ["a", "b", "c", "d"])
    }
}
