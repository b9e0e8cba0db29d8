/// How much longer the tests of a run took because the box was busy.
///
/// A change makes some tests slower, a busy box makes all of them slower: the median over the tests of the ratio to
/// their times in another run is what the box did.
public enum RunLoad {
    /// With fewer tests the slow one could be the median itself.
    public static let minimumTests = 5
    /// Seconds. Below, a clock's steps and the start of a process are most of the time.
    static let leastSeconds = 0.01

    /// 1 where the tests took as long as there or less, or where too few are known in both runs.
    public static func factor(_ tests: [TestResult], beside others: [TestResult]) -> Double {
        let before = Dictionary(
            others.compactMap { test in time(of: test).map { (test.id, $0) } }, uniquingKeysWith: max)
        let ratios = tests.compactMap { test -> Double? in
            guard let here = time(of: test), let there = before[test.id] else { return nil }
            return here / there
        }.sorted()
        guard ratios.count >= minimumTests else { return 1 }
        return max(ratios[ratios.count / 2], 1)
    }

    private static func time(of test: TestResult) -> Double? {
        guard test.status == .passed, let seconds = test.duration, seconds.isFinite, seconds >= leastSeconds else {
            return nil
        }
        return seconds
    }
}
