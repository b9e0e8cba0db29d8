/// Compares the tests of the target with those of the change, one by one, and finds those without a counterpart.
struct TestsComparison {
    private(set) var reading: SourceReading
    private var unchanged: UnchangedTests
    private(set) var renamed: [String: String] = [:]
    private(set) var removed: Set<String> = []

    init(reading: SourceReading, unchanged: UnchangedTests) {
        self.reading = reading
        self.unchanged = unchanged
    }

    mutating func breaches() async -> [Breach] {
        await inherit()
        let (old, new) = (reading.old, reading.new)
        let matching = TestMatching(old, new)
        let (before, after) = (HelperIndex(), HelperIndex())
        for file in reading.oldHelpers { before.add(file.facts) }
        for file in reading.newHelpers { after.add(file.facts) }
        // Helpers in other files count as well. Those files are read only if a test calls an unknown helper.
        if callsUnknown(matching, before, after) {
            for facts in await unchanged.facts() {
                before.add(facts)
                after.add(facts)
            }
        }
        var breaches: [Breach] = []
        var partners: [Int: Int] = [:]
        let titles = Dictionary(grouping: new, by: \.title)
        for pair in matching.pairs {
            partners[pair.new] = pair.old
            let (one, other) = (old[pair.old], new[pair.new])
            if one.title != other.title { renamed[one.title] = other.title }
            breaches += TestComparison(
                old: one, new: other, before: before.promise(of: one.body), after: after.promise(of: other.body),
                hasTwin: (titles[other.title]?.count ?? 0) > 1
            ).breaches()
        }
        breaches += gone(matching, partners, before, after)
        for index in matching.added {
            guard let line = new[index].body.sleeps.first else { continue }
            breaches.append(
                Breach(
                    .addedSleep, test: new[index].title, message: "\(new[index].title): a new test waits for a time",
                    file: new[index].file, line: line))
        }
        return breaches + helpers()
    }

    /// Adds to each XCTest test what it inherits from its class.
    private mutating func inherit() async {
        var before = InheritedSkips(reading.oldOutlines)
        var after = InheritedSkips(reading.newOutlines)
        func suites(_ tests: [TestShape]) -> Set<String> {
            Set(tests.filter { $0.framework == .xcTest }.map(\.suite))
        }
        let (old, new) = (suites(reading.old), suites(reading.new))
        // Other files are needed only if a class got another base: an unchanged base in an unchanged file gives both
        // sides the same.
        let isChanged = new.contains { suite in
            let base = after.inherited(by: suite).unknownBase
            return base != nil && (!old.contains(suite) || base != before.inherited(by: suite).unknownBase)
        }
        if isChanged {
            for facts in await unchanged.facts() {
                before.add(facts)
                after.add(facts)
            }
        }
        reading.old = Self.tests(reading.old, with: before, suites: old)
        reading.new = Self.tests(reading.new, with: after, suites: new)
    }

    private static func tests(
        _ tests: [TestShape], with inherited: InheritedSkips, suites: Set<String>
    ) -> [TestShape] {
        let known = Dictionary(uniqueKeysWithValues: suites.map { ($0, inherited.inherited(by: $0)) })
        return tests.map { test in
            guard test.framework == .xcTest, let own = known[test.suite] else { return test }
            var test = test
            test.skips += own.skips
            test.unknownBase = own.unknownBase
            return test
        }
    }

    private func callsUnknown(_ matching: TestMatching, _ before: HelperIndex, _ after: HelperIndex) -> Bool {
        matching.pairs.contains { pair in
            let (one, other) = (reading.old[pair.old], reading.new[pair.new])
            guard one.framework != .other, one.body != other.body else { return false }
            return after.promise(of: other.body).total < before.promise(of: one.body).total
        }
    }

    /// Reports unmatched tests: removed, or replaced by other tests.
    private mutating func gone(
        _ matching: TestMatching, _ partners: [Int: Int], _ before: HelperIndex, _ after: HelperIndex
    ) -> [Breach] {
        struct Heir {
            var words: Set<String>
            /// Assertions that it makes beyond its earlier ones, one for each case.
            var gain: Int
        }
        guard !matching.gone.isEmpty else { return [] }
        var heirs: [Heir] = reading.new.indices.compactMap { index in
            let partner = partners[index].map { reading.old[$0] }
            let test = reading.new[index]
            let words = test.words.surplus(over: partner?.words)
            guard !words.isEmpty else { return nil }
            let now = after.promise(of: test.body).total * max(1, test.cases ?? (test.hasArguments ? 2 : 1))
            let then = partner.map { before.promise(of: $0.body).total * max(1, $0.cases ?? 1) } ?? 0
            return Heir(words: words, gain: test.framework == .other ? 1_000 : now - then)
        }
        let fresh = Set(matching.added)
        var pieces = Heir(words: [], gain: 0)
        for index in fresh {
            pieces.words.formUnion(reading.new[index].words.counts.keys)
            pieces.gain +=
                reading.new[index].framework == .other ? 1_000 : after.promise(of: reading.new[index].body).total
        }
        var breaches: [Breach] = []
        let titles = Set(reading.new.map(\.title))
        // Each is compared with each, so this is skipped for very many: thousands of removed tests are hardly all
        // replaced.
        let isSearched = matching.gone.count * heirs.count <= 1_000_000
        for index in matching.gone {
            let test = reading.old[index]
            removed.insert(test.title)
            let promised = before.promise(of: test.body).total
            let heir = (isSearched ? heirs.indices : 0..<0).filter { heirs[$0].gain >= max(1, (promised + 1) / 2) }
                .map { ($0, test.words.isContained(in: heirs[$0].words)) }.max { $0.1 < $1.1 }
            if let heir, heir.1 >= 0.6 {
                heirs[heir.0].gain -= max(1, (promised + 1) / 2)
                continue
            }
            // Or it was split into several tests.
            if pieces.gain >= max(1, promised), test.words.isContained(in: pieces.words) >= 0.75 {
                pieces.gain -= max(1, promised)
                continue
            }
            guard !titles.contains(test.title) else { continue }
            breaches.append(
                Breach(
                    .removedTest, test: test.title,
                    message: "\(test.title) is gone; on the target it is at \(test.file):\(test.line)", file: test.file,
                    line: test.line))
        }
        return breaches
    }

    /// Reports helpers that assert less than before: every test that calls them is weaker, also in other files.
    private func helpers() -> [Breach] {
        var new: [String: [SwiftFileFacts.Helper]] = [:]
        for file in reading.newHelpers {
            for helper in file.facts.helpers { new["\(helper.name)", default: []].append(helper) }
        }
        let (before, after) = (HelperIndex(reading.oldHelpers), HelperIndex(reading.newHelpers))
        var breaches: [Breach] = []
        for file in reading.oldHelpers {
            for helper in file.facts.helpers {
                let then = before.promise(of: helper.body)
                guard let others = new[helper.name]?.prefix(8), then.total > 0 || !helper.body.sleeps.isEmpty else {
                    continue
                }
                guard let other = others.min(by: { abs($0.line - helper.line) < abs($1.line - helper.line) }),
                    let most = others.map({ after.promise(of: $0.body).total }).max()
                else { continue }
                var path: String { reading.newHelpers.first { $0.facts.helpers.contains(other) }?.path ?? file.path }
                if most < then.total {
                    breaches.append(
                        Breach(
                            .weakerTest, test: helper.name,
                            message:
                                "\(helper.name)(), which tests call, has \(most) assertions instead of \(then.total)",
                            file: path, line: other.line))
                }
                if other.body.sleeps.count > helper.body.sleeps.count {
                    breaches.append(
                        Breach(
                            .addedSleep, test: helper.name, message: "\(helper.name)() waits for a time in more places",
                            file: path, line: other.body.sleeps.last))
                }
                for one in TestComparison.widened(helper.body.tolerances, other.body.tolerances) {
                    breaches.append(
                        Breach(
                            .widerTolerance, test: helper.name,
                            message:
                                "\(helper.name)(): \(one.new.label) is \(one.new.value) instead of \(one.old.value)",
                            file: path, line: one.new.line))
                }
            }
        }
        return breaches
    }
}

/// Test files that the change leaves alone, read when they are first needed.
struct UnchangedTests {
    private let surroundings: IntegrityCheck.Surroundings
    private let reader: any SwiftSourceReader
    private let deadline: ContinuousClock.Instant
    private var known: [SwiftFileFacts]?

    init(
        _ surroundings: IntegrityCheck.Surroundings, _ reader: any SwiftSourceReader,
        _ deadline: ContinuousClock.Instant
    ) {
        self.surroundings = surroundings
        self.reader = reader
        self.deadline = deadline
    }

    /// The facts of those that can be read. A missing helper or base class makes a test look weaker, never stronger.
    mutating func facts() async -> [SwiftFileFacts] {
        if let known { return known }
        let files = await surroundings.unchangedTests().filter { TestPaths.isSwift($0.path) }
        let results = await reader.read(files.map { SwiftSource(.tests, $0.bytes) }, before: deadline)
        let facts = results.compactMap { try? $0.get() }
        known = facts
        return facts
    }
}
