public import Pipeline

/// Holds the sources of a change against those of its target, by the target's rules. Runs nothing, and ends in time.
public struct IntegrityCheck: Sendable {
    public var rules: [IntegrityRule]
    /// Reads the Swift files among them.
    public var reader: any SwiftSourceReader
    /// How long it may take in all; what is not read by then needs a person.
    public var timeLimit: Duration

    /// Bytes of all files that are read.
    public static let byteLimit = 32 << 20
    /// More is said in a sum.
    public static let breachLimit = 200

    public init(rules: [IntegrityRule], reader: any SwiftSourceReader, timeLimit: Duration = .seconds(20)) {
        self.rules = Self.spelledOut(rules)
        self.reader = reader
        self.timeLimit = timeLimit
    }

    /// The rules, with ``IntegrityRule/standard`` replaced by those that it stands for.
    public static func spelledOut(_ rules: [IntegrityRule]) -> [IntegrityRule] {
        rules.flatMap { $0 == .standard ? IntegrityRule.standardRules : [$0] }
    }

    /// Files beside those of the change, asked for only where they are needed.
    public struct Surroundings: Sendable {
        /// Test files that the change leaves alone: they may have the helpers that its tests call.
        public var unchangedTests: @Sendable () async -> [(path: String, bytes: [UInt8])]
        /// A file of the target and of the change.
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

    /// What the change did that it may not do unasked, by file and line.
    public func breaches(of files: [ChangedSource], in surroundings: Surroundings = Surroundings()) async -> [Breach] {
        await outcome(of: files, in: surroundings).breaches
    }

    /// The breaches, and which tests only have another name or place now.
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

/// What a check found.
public struct IntegrityOutcome: Sendable, Equatable {
    public var breaches: [Breach]
    /// By its name on the target, the name that a test has now.
    public var renamed: [String: String]
    /// Names of tests on the target whose removal is among the breaches or was found to be honest.
    public var removed: Set<String>
    /// Tests in the files that the change touches.
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
