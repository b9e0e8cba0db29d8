package import Foundation
import Results
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What has become of the steps of a run, in files, so that the run can go on after the daemon or its connection was
/// lost, at a place whose processes go on.
///
/// A step that has ended is not run again, nor is an attempt. An attempt that has begun is asked for again, and the place
/// knows it by its label. What the machine and not the step has to answer for is not kept.
package struct KeptSteps: Sendable {
    /// An existing folder of the run.
    private let folder: FilePath
    private let startedAt: Date

    /// - Parameters:
    ///   - folder: Made if it is missing.
    ///   - startedAt: When the first step could start.
    package init(folder: FilePath, startedAt: Date) throws {
        guard mkdir(folder.string, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        (self.folder, self.startedAt) = (folder, startedAt)
    }

    /// Seconds since the first step could start.
    var age: Double { max(0, Date().timeIntervalSince(startedAt)) }

    /// What is known of an attempt before its command starts.
    struct Begin: Codable {
        var startedAt: Date
        /// The result files from before the attempt.
        var before: [String: FileStamp]
        /// The step's index in the plan.
        var step: Int
        /// Its machine, if that is not the run's.
        var machine: String?
    }

    /// Why the run can't go on, as the rest of a sentence; nil if it can. What was on another machine than the run's is
    /// not looked for there.
    package var obstacle: String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
        for name in names where name.hasSuffix(".begin") {
            guard let begin: Begin = read(name) else { return "what is kept of its steps can't be read" }
            if let machine = begin.machine, outcome(of: begin.step) == nil {
                return "one of its steps was on \(machine)"
            }
        }
        return nil
    }

    // MARK: Steps

    func outcome(of step: Int) -> StepOutcome? { read("\(step).step") }

    func keep(_ outcome: StepOutcome, of step: Int) {
        guard isFinal(outcome.record.status) else { return }
        var outcome = outcome
        outcome.holdsSlot = false
        // If it can't be written, the step's attempts are asked for again.
        try? write(outcome, "\(step).step")
    }

    // MARK: Attempts

    func attempt(_ label: String) -> StepRunner.Attempt? { read("\(label).end") }

    func keep(_ attempt: StepRunner.Attempt, _ label: String) {
        if isFinal(attempt.record.status) { try? write(attempt, "\(label).end") }
    }

    func begin(_ work: StepRunner.Work, on machine: String?) throws {
        try write(
            Begin(startedAt: work.start, before: work.before, step: work.index, machine: machine),
            "\(work.label).begin")
    }

    /// Whether the first attempt of a step has begun.
    func hasBegun(_ step: Int) -> Bool {
        access(folder.appending("\(StepRunner.label(step, attempt: 1)).begin").string, F_OK) == 0
    }

    /// How an attempt began in an earlier life; nil if it did not.
    ///
    /// - Parameter next: The label of the step's next attempt. It begins anew, if at all: when the place was lost, it
    ///   began in vain.
    func takeBegin(_ label: String, next: String) -> Begin? {
        unlink(folder.appending("\(next).begin").string)
        return read("\(label).begin")
    }

    // MARK: Files

    private func isFinal(_ status: StepStatus) -> Bool {
        switch status {
        case .passed, .failed, .timedOut: true
        case .waiting, .running, .cancelled, .skipped, .infrastructure: false
        }
    }

    private func read<Value: Decodable>(_ name: String) -> Value? {
        FileManager.default.contents(atPath: folder.appending(name).string)
            .flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    private func write(_ value: some Encodable, _ name: String) throws {
        try JSONEncoder().encode(value).write(
            to: URL(fileURLWithPath: folder.appending(name).string), options: .atomic)
    }
}
