import Foundation
import Synchronization

/// Bounds what others can have the crash endpoint do: wrong tokens of an address, and reports of a repository.
final class CrashGate: Sendable {
    /// Wrong tokens of one address that are answered in a minute.
    static let mostFailures = 20
    /// Reports of one repository that are taken in a minute.
    static let mostReports = 120
    /// Reports that are read at the same time; each may hold 4 MiB of memory.
    static let mostAtOnce = 8
    /// Names that are remembered.
    private static let mostNames = 10_000

    private struct Minute {
        var start: Date
        var count: Int
    }

    private struct State {
        var failures: [String: Minute] = [:]
        var reports: [String: Minute] = [:]
        var reading = 0
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Seconds until an address may try again; nil if it may now.
    func pause(for address: String) -> Int? {
        state.withLock { Self.pause($0.failures[address], most: Self.mostFailures, now()) }
    }

    func noteFailure(of address: String) { state.withLock { Self.note(address, &$0.failures, now()) } }

    /// Counts a report of a repository.
    ///
    /// - Returns: Seconds until another one is taken; nil if this one is.
    func take(_ repository: String) -> Int? {
        state.withLock { state in
            if let pause = Self.pause(state.reports[repository], most: Self.mostReports, now()) { return pause }
            Self.note(repository, &state.reports, now())
            return nil
        }
    }

    /// Begins to read a report; false if as many are read already as may be.
    func begin() -> Bool {
        state.withLock { state in
            guard state.reading < Self.mostAtOnce else { return false }
            state.reading += 1
            return true
        }
    }

    func end() { state.withLock { $0.reading -= 1 } }

    private static func pause(_ minute: Minute?, most: Int, _ now: Date) -> Int? {
        guard let minute, minute.count >= most else { return nil }
        let left = minute.start.timeIntervalSince(now) + 60
        // A clock that was set back must not shut anybody out for long.
        return left > 0 && left <= 60 ? Int(left.rounded(.up)) : nil
    }

    private static func note(_ name: String, _ minutes: inout [String: Minute], _ now: Date) {
        if let known = minutes[name], (0..<60).contains(now.timeIntervalSince(known.start)) {
            minutes[name]?.count += 1
        } else {
            if minutes.count >= mostNames {
                minutes = minutes.filter { (0..<60).contains(now.timeIntervalSince($0.value.start)) }
                if minutes.count >= mostNames { minutes.removeAll() }
            }
            minutes[name] = Minute(start: now, count: 1)
        }
    }
}
