import Git
import Results
import Synchronization

/// The test results that were read last, by the ids of their files in the archive.
///
/// Everybody who followed a run loads its page when it ends, and each of these pages shows all of its tests.
final class RecentTestResults: Sendable {
    private struct Entry {
        var file: OID
        /// The bytes of the file.
        var size: Int
        var tests: [TestResult]
    }

    /// The most bytes of the files whose results are kept.
    private static let mostBytes = 8 << 20

    /// The one that was used last is the last.
    private let entries = Mutex<[Entry]>([])

    /// The results in a file, which `read` gets if they are not here.
    func results(of file: OID, _ read: () throws -> (tests: [TestResult], size: Int)) rethrows -> [TestResult] {
        if let known = known(file) { return known }
        let (tests, size) = try read()
        guard size <= Self.mostBytes else { return tests }
        entries.withLock { entries in
            guard !entries.contains(where: { $0.file == file }) else { return }
            entries.append(Entry(file: file, size: size, tests: tests))
            var total = entries.reduce(0) { $0 + $1.size }
            while total > Self.mostBytes { total -= entries.removeFirst().size }
        }
        return tests
    }

    private func known(_ file: OID) -> [TestResult]? {
        entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.file == file }) else { return nil }
            let entry = entries.remove(at: place)
            entries.append(entry)
            return entry.tests
        }
    }
}
