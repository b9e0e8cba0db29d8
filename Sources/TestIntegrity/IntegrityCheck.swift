public import Pipeline

/// Compares the sources of a change with those of its target, by the target's rules. It runs nothing and has a time
/// limit.
public struct IntegrityCheck: Sendable {
    public var rules: [IntegrityRule]
    /// Reads the Swift files among them.
    public var reader: any SwiftSourceReader
    /// The time limit of the whole check. A file that is not read by then needs a person's approval.
    public var timeLimit: Duration

    /// The most bytes that are read, of all files together.
    public static let byteLimit = 32 << 20
    /// The most breaches that are listed; the rest is only counted.
    public static let breachLimit = 200

    public init(rules: [IntegrityRule], reader: any SwiftSourceReader, timeLimit: Duration = .seconds(20)) {
        self.rules = Self.spelledOut(rules)
        self.reader = reader
        self.timeLimit = timeLimit
    }

    /// The rules, with ``IntegrityRule/standard`` replaced by the rules that it stands for.
    public static func spelledOut(_ rules: [IntegrityRule]) -> [IntegrityRule] {
        rules.flatMap { $0 == .standard ? IntegrityRule.standardRules : [$0] }
    }

    /// Files besides those of the change, which are read only if they are needed.
    public struct Surroundings: Sendable {
        /// Test files that the change leaves alone. They may have helpers that its tests call.
        public var unchangedTests: @Sendable () async -> [(path: String, bytes: [UInt8])]
        /// One file, on the target and in the change.
        public var file: @Sendable (_ path: String) async -> (old: [UInt8]?, new: [UInt8]?)
        /// All paths of the change.
        public var paths: @Sendable () async -> [String]

        public init(
            unchangedTests: @escaping @Sendable () async -> [(path: String, bytes: [UInt8])] = { [] },
            file: @escaping @Sendable (_ path: String) async -> (old: [UInt8]?, new: [UInt8]?) = { _ in (nil, nil) },
            paths: @escaping @Sendable () async -> [String] = { [] }
        ) {
            self.unchangedTests = unchangedTests
            self.file = file
            self.paths = paths
        }
    }

    /// What the change does that needs approval, by file and line.
    public func breaches(of files: [ChangedSource], in surroundings: Surroundings = Surroundings()) async -> [Breach] {
        await outcome(of: files, in: surroundings).breaches
    }

    /// The breaches, and the tests that only have another name or place now.
    public func outcome(
        of files: [ChangedSource], in surroundings: Surroundings = Surroundings()
    ) async -> IntegrityOutcome {
        var found: [Breach] = PathRules(rules: rules).breaches(of: files)
        let deadline = ContinuousClock.now + timeLimit
        var reading = SourceReading(reader, deadline: deadline)
        await reading.read(files)
        found += reading.unreadable
        if rules.contains(.noHiddenTests) {
            found += await HiddenTests(files: files, reading: reading, surroundings).breaches(reader, deadline)
        }
        if rules.contains(.noLoneSnapshots) { found += PathRules.loneSnapshots(files) }
        var tests = TestsComparison(reading: reading, unchanged: UnchangedTests(surroundings, reader, deadline))
        found += await tests.breaches()
        found += ShadowedNames.breaches(of: reading.outlines)
        found = found.filter { breach in Self.rule(of: breach.kind).map(rules.contains) ?? true }
        found.sort { ($0.file, $0.line ?? 0, $0.kind.rawValue) < ($1.file, $1.line ?? 0, $1.kind.rawValue) }
        if found.count > Self.breachLimit {
            let left = found.count - Self.breachLimit
            found = Array(found.prefix(Self.breachLimit))
            found.append(
                Breach(.unreadable, .unclear, message: "\(left) more findings of this kind are not shown", file: ""))
        }
        return IntegrityOutcome(
            breaches: found, renamed: tests.renamed, removed: tests.removed, testsBefore: reading.old.count,
            testsAfter: reading.new.count)
    }

    private static func rule(of kind: Breach.Kind) -> IntegrityRule? {
        switch kind {
        case .removedTest: .noRemovedTests
        case .skippedTest: .noNewSkips
        case .weakerTest, .fewerCases: .noWeakerTests
        case .addedSleep: .noAddedSleeps
        case .widerTolerance: .noWiderTolerances
        case .hiddenTests: .noHiddenTests
        case .loneSnapshot: .noLoneSnapshots
        case .touchedPath, .missingCompanion, .largeChange, .unreadable: nil
        }
    }
}

/// The result of a check.
public struct IntegrityOutcome: Sendable, Equatable {
    public var breaches: [Breach]
    /// The new names of renamed tests, by their names on the target.
    public var renamed: [String: String]
    /// Names of the target's tests that were removed: reported as a breach, or found to be replaced.
    public var removed: Set<String>
    /// The number of tests in the touched files, on the target.
    public var testsBefore: Int
    public var testsAfter: Int

    public init(
        breaches: [Breach], renamed: [String: String] = [:], removed: Set<String> = [], testsBefore: Int = 0,
        testsAfter: Int = 0
    ) {
        self.breaches = breaches
        self.renamed = renamed
        self.removed = removed
        self.testsBefore = testsBefore
        self.testsAfter = testsAfter
    }
}
