/// How much longer the tests of a run took because the machine was busy.
///
/// A change makes some tests slower; a busy machine makes all of them slower. The load is the median, over all tests,
/// of the ratio between the times in both runs.
public enum RunLoad {
    /// With fewer tests, the slow test could itself be the median.
    public static let minimumTests = 5
    /// In seconds. Shorter times consist mostly of clock resolution and process start.
    static let leastSeconds = 0.01

    /// The factor. It is 1 if the tests were as fast as in the other run or faster, or if too few tests ran in both.
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
