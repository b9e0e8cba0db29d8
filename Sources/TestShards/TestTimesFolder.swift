import Foundation
package import Pipeline
package import Results
import Sandbox

/// The times of the tests of divided steps, a file for each step. They decide only how tests are divided: whatever is
/// missing or damaged is learned again.
package struct TestTimesFolder: Sendable {
    private let path: String
    private static let mostBytes = 128 << 20
    /// A file that no run wrote for so long is removed.
    private static let lifetime = 90 * 86_400.0

    package init(_ path: String) { self.path = path }

    /// The tests of each divided step of a plan that has a list. It blocks.
    package func known(for plan: Plan, of request: RunRequest) -> [String: [KnownTest]] {
        let steps = Set(plan.steps.compactMap { $0.shard?.list == nil ? nil : $0.shard?.step })
        return Dictionary(
            steps.map { ($0, read(file(of: $0, request)).known) }, uniquingKeysWith: { first, _ in first })
    }

    /// Keeps how long the tests of a run took. It blocks.
    ///
    /// - Parameters:
    ///   - records: The steps of the run.
    ///   - tests: The tests of all of them.
    package func add(_ records: [StepRecord], _ tests: [TestResult], of plan: Plan, _ request: RunRequest) {
        // A run of some tests says nothing about the others.
        guard request.onlyTests == nil else { return }
        let shards = Dictionary(
            plan.steps.compactMap { step in step.shard.flatMap { $0.list == nil ? nil : (step.name, $0.step) } },
            uniquingKeysWith: { first, _ in first })
        var results: [String: [TestResult]] = [:]
        for record in records where record.standsFor == nil {
            guard let step = shards[record.name], let span = record.tests else { continue }
            results[step, default: []] += span.of(tests)
        }
        for (step, results) in results {
            let file = file(of: step, request)
            var times = read(file)
            times.add(results)
            guard let bytes = try? JSONEncoder().encode(times), bytes.count <= Self.mostBytes else { continue }
            try? FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try? bytes.write(to: URL(fileURLWithPath: file), options: .atomic)
        }
        if !results.isEmpty { removeOld() }
    }

    private func file(of step: String, _ request: RunRequest) -> String {
        let words = [request.repository, request.workflow, step].map { "\($0.utf8.count) \($0)" }
        return "\(path)/\(BytesDigest.sha256(Array(words.joined(separator: "\n").utf8))).json"
    }

    private func read(_ file: String) -> TestTimes {
        let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? NSNumber
        guard let size, size.intValue <= Self.mostBytes, let bytes = FileManager.default.contents(atPath: file),
            let times = try? JSONDecoder().decode(TestTimes.self, from: bytes), times.formatVersion == 1
        else { return TestTimes() }
        return times
    }

    private func removeOld() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            let file = "\(path)/\(name)"
            let date = (try? FileManager.default.attributesOfItem(atPath: file))?[.modificationDate] as? Date
            if let date, date.timeIntervalSinceNow < -Self.lifetime {
                try? FileManager.default.removeItem(atPath: file)
            }
        }
    }
}
