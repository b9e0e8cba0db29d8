import DaemonLog
import Foundation
import Logging
import Results
import Synchronization

/// What the daemon knows of snapshots on other machines, which keep them: what they said last, and which turned out to be
/// wrong.
package final class SnapshotsElsewhere: Sendable {
    private struct State {
        /// Newest first.
        var known: [Place: [SnapshotFacts]] = [:]
        /// By line, the run that found its snapshots to be wrong.
        var wrong: [SnapshotLine: RunID]
        /// How often that happened in this process.
        var times: [SnapshotLine: Int] = [:]
    }

    private struct Place: Hashable {
        var machine: String
        var line: SnapshotLine
    }

    /// The file with what was wrong: a machine may be asked again long after.
    private let record: String?
    private let log: Logger
    private let state: Mutex<State>

    /// - Parameter record: Nil if what was wrong is forgotten with this process.
    init(record: String?, log: Logger) {
        (self.record, self.log) = (record, log)
        let read = record.flatMap { FileManager.default.contents(atPath: $0) }
            .flatMap { try? JSONDecoder().decode([Wrong].self, from: $0) }
        state = Mutex(State(wrong: Dictionary((read ?? []).map { ($0.line, $0.run) }, uniquingKeysWith: max)))
    }

    /// The snapshots of a line that were made by earlier runs are wrong.
    private struct Wrong: Codable {
        var line: SnapshotLine
        var run: RunID
    }

    /// By machine and line, the newest one that is known.
    package var newest: [(machine: String?, facts: SnapshotFacts)] {
        state.withLock { state in
            state.known.compactMap { place, snapshots in snapshots.first.map { (place.machine, $0) } }
        }
    }

    /// Whether a machine has one for these runs.
    package func has(_ key: SnapshotKey, at commit: String, on machine: String) -> Bool {
        state.withLock { state in
            (state.known[Place(machine: machine, line: key.line)] ?? []).contains {
                $0.key == key && $0.commit == commit && $0.isUsable
            }
        }
    }

    /// Notes all snapshots of a line that a machine has, the newest first.
    func note(_ snapshots: [SnapshotFacts], of line: SnapshotLine, on machine: String) {
        state.withLock { $0.known[Place(machine: machine, line: line)] = snapshots.isEmpty ? nil : snapshots }
    }

    /// Notes one more snapshot of a machine.
    func note(_ snapshot: SnapshotFacts, on machine: String) {
        state.withLock {
            $0.known[Place(machine: machine, line: snapshot.key.line), default: []].insert(snapshot, at: 0)
        }
    }

    /// Whether the snapshot of a run is wrong.
    func isWrong(_ line: SnapshotLine, _ run: RunID) -> Bool {
        state.withLock { state in state.wrong[line].map { run < $0 } ?? false }
    }

    /// How often snapshots of a line were found to be wrong in this process.
    func times(_ line: SnapshotLine) -> Int { state.withLock { $0.times[line] ?? 0 } }

    /// Notes that the snapshots of a line are wrong.
    ///
    /// - Returns: How many of them are known.
    func giveUp(_ line: SnapshotLine, until run: RunID) -> Int {
        let (count, wrong) = state.withLock { state in
            state.wrong[line] = max(state.wrong[line] ?? run, run)
            state.times[line, default: 0] += 1
            var count = 0
            for (place, snapshots) in state.known where place.line == line {
                count += snapshots.count
                state.known[place] = nil
            }
            return (count, state.wrong)
        }
        guard let record else { return count }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let words = wrong.map { Wrong(line: $0.key, run: $0.value) }.sorted { $0.line.name < $1.line.name }
            try encoder.encode(words).write(to: URL(fileURLWithPath: record), options: .atomic)
        } catch {
            log.error(
                "\(record) could not be written, so after a restart runs on other machines may start from wrong warm workspaces of \(line.workflow) on \(line.branch): \(error)",
                metadata: .code(.snapshotFailed, repository: line.repository))
        }
        return count
    }
}
