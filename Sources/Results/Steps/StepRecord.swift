public import Foundation

/// How far a step is, or how it ended.
public enum StepStatus: String, Sendable, Codable, CaseIterable {
    case waiting, running, passed, failed, timedOut, cancelled, skipped, infrastructure

    /// Whether the step has ended.
    public var isFinal: Bool { self != .waiting && self != .running }

    /// Whether the step ran and did not succeed.
    public var isFailure: Bool { self == .failed || self == .timedOut || self == .infrastructure }
}

/// One step of a run in the report.
public struct StepRecord: Sendable, Equatable, Codable, Identifiable {
    /// Unique in the run.
    public var name: String
    /// The command as one would type it in a shell.
    public var command: String
    /// Names of steps of the same run.
    public var needs: [String]
    /// How the step ended, or how far it is.
    public var status: StepStatus
    /// Why the step was skipped, cancelled or failed, as a sentence; nil for a step that passed.
    public var reason: String?
    /// Whether the run can pass although the step fails.
    public var allowsFailure: Bool
    /// In order. The last one decides.
    public var attempts: [AttemptRecord]
    /// The counts of the step's tests; nil if it has none.
    public var testCounts: TestCounts?
    /// The position of the step's tests among the run's tests.
    public var tests: TestSpan?
    /// The step's key; nil unless its result can be a proof.
    public var key: StepKey?
    /// The run that proved the step, which did not run in this run.
    public var provedBy: ProofCitation?
    /// The run that this run repeats, if the step passed there and did not run again.
    public var carriedFrom: ProofCitation?
    /// The proof that the failure in this run shows to be wrong.
    public var refutes: ProofRefutation?
    /// The stored outputs, for runs in which the step is proved.
    public var outputs: OutputRecord?

    /// Whether the step can run selected tests only. Nil means no.
    public var runsNamedTests: Bool?

    /// What the step has reviewed and found in the change so far, for a review step.
    public var review: ReviewRecord?

    /// The step's name, unique in its run.
    public var id: String { name }

    /// The run whose result is used for the step; nil if the step ran in this run, or did not run.
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

    /// Seconds from the start of the first attempt to the end of the last one.
    public var duration: Double? {
        guard let start = attempts.first?.startedAt, let end = attempts.last?.endedAt else { return nil }
        return end.timeIntervalSince(start)
    }
}

/// One attempt of a step.
public struct AttemptRecord: Sendable, Equatable, Codable {
    /// 1 for the first.
    public var number: Int
    /// When the attempt started.
    public var startedAt: Date
    /// Nil while the attempt is running.
    public var endedAt: Date?
    /// The result of the attempt.
    public var status: StepStatus
    /// The command's exit code; nil if a signal ended it or it has not ended.
    public var exitCode: Int32?
    /// The signal that ended the command, if one did.
    public var signal: Int32?
    /// Why the attempt did not pass; nil for one that passed.
    public var reason: String?
    /// Where the output is; nil if there is none.
    public var log: LogRecord?
    /// True if the attempt reached a limit of the step or the run. That says little about the tested code.
    public var hitLimit: Bool?
    /// The number of failed tests in quarantine, if the attempt passed because of the quarantine.
    public var quarantinedTests: Int?
    /// The number of tests, if the attempt retried only failed tests.
    public var retriedTests: Int?
    /// The machine that it ran on, if that is not the run's.
    public var machine: String?

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
    /// The name of an attempt's log file in the run's log folder. `step` counts from 1 in the plan's order.
    public static func logName(step: Int, attempt: Int) -> String {
        "\(String(step).leftPadded(to: 3))-\(attempt).log"
    }
}

/// Where an attempt's output is, and how much there is.
public struct LogRecord: Sendable, Equatable, Codable {
    /// The file's name in the run's log folder (`logs/` in the archive): `003-1.log`. The times of its lines are in a
    /// file beside it, whose name has `.times` appended: see ``LogTimes``.
    public var file: String
    /// Bytes of the output after masking: those in the file plus ``droppedBytes``. Masking changes the size only if the
    /// step prints a secret.
    public var bytes: Int
    /// Bytes that were dropped between the beginning and the end of the output.
    public var droppedBytes: Int

    public init(file: String, bytes: Int, droppedBytes: Int) {
        self.file = file
        self.bytes = bytes
        self.droppedBytes = droppedBytes
    }
}

/// The numbers of tests by result.
public struct TestCounts: Sendable, Equatable, Codable {
    /// Tests that passed in their last try.
    public var passed: Int
    /// Tests that failed, or had an error, in their last try.
    public var failed: Int
    /// Tests that did not run.
    public var skipped: Int
    /// Tests that failed as their author had declared.
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

    /// The sum, or `Int.max` if a report claims more.
    public var total: Int {
        [passed, failed, skipped, expectedFailures].reduce(0) { sum, count in
            let (next, isTooLarge) = sum.addingReportingOverflow(count)
            return isTooLarge ? (count < 0 ? .min : .max) : next
        }
    }
}

/// A file that a step archived with the report.
public struct ArtifactRecord: Sendable, Equatable, Codable {
    /// The name of the step that made the file.
    public var step: String
    /// Relative to the workspace.
    public var path: String
    /// The size of the file.
    public var bytes: Int
    /// Lower-case hex.
    public var sha256: String
    /// Whether its owner may execute it.
    public var isExecutable: Bool

    public init(step: String, path: String, bytes: Int, sha256: String, isExecutable: Bool = false) {
        self.step = step
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.isExecutable = isExecutable
    }
}
