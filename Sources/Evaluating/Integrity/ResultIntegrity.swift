import Results
import TestIntegrity
import Pipeline

/// Compares the results of a run with those of its target, if both ran. This second source of evidence finds what
/// sources don't show, such as a filter in a program or tests that are generated at run time.
struct ResultIntegrity {
    let rules: [IntegrityRule]
    let sources: IntegrityOutcome

    /// - Parameters:
    ///   - tests: The tests of this run.
    ///   - targetTests: The tests of the run of exactly the commit that the change was merged with.
    func breaches(_ tests: [TestResult], _ targetTests: [TestResult]) -> [Breach] {
        let here = Dictionary(grouping: tests, by: Self.key)
        var breaches: [Breach] = []
        var order: [Key] = []
        let there = Dictionary(grouping: targetTests, by: Self.key)
        var seen: Set<Key> = []
        for test in targetTests where seen.insert(Self.key(test)).inserted { order.append(Self.key(test)) }
        // Names that exist in another suite, or under the new name that the sources show.
        let names = Set(here.keys.map(\.plain))
        let told = Set(
            (Array(sources.removed) + sources.renamed.keys).map { title in
                Key(suite: "", name: title.split(separator: ".").last.map(String.init) ?? title).plain
            })
        for key in order where breaches.count < 100 {
            guard let before = there[key], before.contains(where: { $0.status != .skipped }) else { continue }
            guard let now = here[key] else {
                if rules.contains(.noRemovedTests), !names.contains(key.plain),
                    !told.contains(key.plain)
                {
                    breaches.append(
                        Self.breach(
                            .removedTest, before, "\(Self.name(key)) ran on the target and is missing here"))
                }
                continue
            }
            if rules.contains(.noNewSkips), now.allSatisfy({ $0.status == .skipped || $0.status == .expectedFailure }),
                before.contains(where: { $0.status == .passed || $0.status.isFailure })
            {
                let word = now.contains { $0.status == .skipped } ? "is skipped" : "is expected to fail"
                breaches.append(
                    Self.breach(.skippedTest, now, "\(Self.name(key)) ran on the target but \(word) here"))
            } else if rules.contains(.noWeakerTests) {
                let (cases, were) = (Set(now.map(\.name)).count, Set(before.map(\.name)).count)
                if cases < were, were > 1 {
                    breaches.append(
                        Self.breach(
                            .fewerCases, now, "\(Self.name(key)) has \(cases) cases here and \(were) on the target"))
                }
            }
        }
        return breaches
    }

    struct Key: Hashable {
        var suite: String
        /// The name without parameter values: `test_a[1-2]` and `test_a[3-4]` are cases of one test.
        var name: String

        /// The name as in sources: letters and digits, without the prefix `test`.
        var plain: String {
            var text = name.lowercased().filter { $0.isLetter || $0.isNumber }
            if text.hasPrefix("test"), text.count > 4 { text.removeFirst(4) }
            return text
        }
    }

    static func key(_ test: TestResult) -> Key {
        var name = test.name[...]
        if let end = name.firstIndex(where: { $0 == "[" || $0 == "(" || $0 == "→" }), end > name.startIndex {
            name = name[..<end]
        }
        while name.last == " " { name = name.dropLast() }
        return Key(suite: test.suite, name: String(name))
    }

    private static func name(_ key: Key) -> String { key.suite.isEmpty ? key.name : "\(key.suite)/\(key.name)" }

    private static func breach(_ kind: Breach.Kind, _ tests: [TestResult], _ message: String) -> Breach {
        let place = tests.first { $0.file != nil }
        return Breach(
            kind, test: tests.first.map { name(key($0)) }, message: message, file: place?.file ?? "", line: place?.line)
    }
}
