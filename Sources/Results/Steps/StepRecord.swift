public import Foundation

/// What a step came to.
public enum StepStatus: String, Sendable, Codable, CaseIterable {
    case waiting, running, passed, failed, timedOut, cancelled, skipped, infrastructure

    /// Whether nothing more happens to the step.
    public var isFinal: Bool { self != .waiting && self != .running }

    /// Whether the step ran and did not succeed.
    public var isFailure: Bool { self == .failed || self == .timedOut || self == .infrastructure }
}

/// One step of a run, as the report keeps it.
public struct StepRecord: Sendable, Equatable, Codable, Identifiable {
    public var name: String
    public var command: String
    public var needs: [String]
    public var status: StepStatus
    /// Why it was skipped, cancelled or failed, as a sentence; nil for a step that passed.
    public var reason: String?
    public var allowsFailure: Bool
    /// In order; the last one decides.
    public var attempts: [AttemptRecord]
    public var testCounts: TestCounts?
    /// Which of the run's tests are the step's.
    public var tests: TestSpan?
    /// What its result depends on: there when the result may stand for that of another run, or does already.
    public var key: StepKey?
    /// The run that proved it; it was not run here.
    public var provedBy: ProofCitation?
    /// The run of which this one is a repetition and in which the step passed; it was not run here.
    public var carriedFrom: ProofCitation?
    /// The proof that its failure here shows to be wrong.
    public var refutes: ProofRefutation?
    /// What it made, kept for runs that it proves.
    public var outputs: OutputRecord?

    /// Whether it can be told which tests to run; nil is no.
    public var runsNamedTests: Bool?

    /// What it has looked at and found in the change so far, for a step that reviews.
    public var review: ReviewRecord?

    public var id: String { name }

    /// The run whose result stands for the step; nil where it ran here, or did not run.
    public var standsFor: ProofCitation? { provedBy ?? carriedFrom }

    public init(
        name: String, command: String, needs: [String] = [], status: StepStatus = .waiting, reason: String? = nil,
        allowsFailure: Bool = false, attempts: [AttemptRecord] = [], testCounts: TestCounts? = nil
    ) {
        self.name = name
        self.command = command
        self.needs = needs
        self.status = status
        self.reason = reason
        self.allowsFailure = allowsFailure
        self.attempts = attempts
        self.testCounts = testCounts
    }

    /// From the start of the first attempt to the end of the last one, in seconds.
    public var duration: Double? {
        guard let start = attempts.first?.startedAt, let end = attempts.last?.endedAt else { return nil }
        return end.timeIntervalSince(start)
    }
}

/// One try of a step.
public struct AttemptRecord: Sendable, Equatable, Codable {
    /// 1 for the first.
    public var number: Int
    public var startedAt: Date
    public var endedAt: Date?
    public var status: StepStatus
    public var exitCode: Int32?
    /// The signal that ended the command, if one did.
    public var signal: Int32?
    public var reason: String?
    public var log: LogRecord?
    /// True where a limit of the step or the run ended it: that says little about what it tests.
    public var hitLimit: Bool?
    /// How many tests failed in it that are in quarantine, where they are why it passed.
    public var quarantinedTests: Int?
    /// How many tests it was for, where it tried only those again that had failed.
    public var retriedTests: Int?

    public init(
        number: Int, startedAt: Date, endedAt: Date? = nil, status: StepStatus = .running, exitCode: Int32? = nil,
        signal: Int32? = nil, reason: String? = nil, log: LogRecord? = nil
    ) {
        self.number = number
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.status = status
        self.exitCode = exitCode
        self.signal = signal
        self.reason = reason
        self.log = log
    }
}

extension AttemptRecord {
    /// The name of an attempt's log in the run's log folder; `step` counts from 1 in the plan's order.
    public static func logName(step: Int, attempt: Int) -> String {
        "\(String(step).leftPadded(to: 3))-\(attempt).log"
    }
}

/// Where an attempt's output is and how much of it.
public struct LogRecord: Sendable, Equatable, Codable {
    /// The file's name in the run's log folder (`logs/` in the archive): `003-1.log`. Its line times are beside
    /// it with `.times` added: see ``LogTimes``.
    public var file: String
    /// Bytes of the output with its secrets masked: what is kept, and ``droppedBytes`` more. A step that prints no
    /// secret wrote exactly so many.
    public var bytes: Int
    /// Bytes that were not kept: between the head and the tail.
    public var droppedBytes: Int

    public init(file: String, bytes: Int, droppedBytes: Int) {
        self.file = file
        self.bytes = bytes
        self.droppedBytes = droppedBytes
    }
}

/// How many tests came out how.
public struct TestCounts: Sendable, Equatable, Codable {
    public var passed: Int
    public var failed: Int
    public var skipped: Int
    public var expectedFailures: Int

    public init(passed: Int = 0, failed: Int = 0, skipped: Int = 0, expectedFailures: Int = 0) {
        self.passed = passed
        self.failed = failed
        self.skipped = skipped
        self.expectedFailures = expectedFailures
    }

    /// Counts the last attempt of each test.
    public init(_ tests: [TestResult]) {
        self.init()
        for test in tests {
            switch test.status {
            case .passed: passed += 1
            case .failed, .errored: failed += 1
            case .skipped: skipped += 1
            case .expectedFailure: expectedFailures += 1
            }
        }
    }

    /// The largest number there is, where a report claims more.
    public var total: Int {
        [passed, failed, skipped, expectedFailures].reduce(0) { sum, count in
            let (next, isTooLarge) = sum.addingReportingOverflow(count)
            return isTooLarge ? (count < 0 ? .min : .max) : next
        }
    }
}

/// A file that a step left for the report.
public struct ArtifactRecord: Sendable, Equatable, Codable {
    public var step: String
    /// Relative to the workspace.
    public var path: String
    public var bytes: Int
    /// Lower-case hex.
    public var sha256: String
    public var isExecutable: Bool

    public init(step: String, path: String, bytes: Int, sha256: String, isExecutable: Bool = false) {
        self.step = step
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.isExecutable = isExecutable
    }
}
