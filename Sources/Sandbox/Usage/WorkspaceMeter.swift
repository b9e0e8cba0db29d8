import Synchronization
import SystemPackage

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a run takes of the machine beside what the kernel limits by itself.
package struct RunUsage: Sendable, Equatable {
    /// Bytes on disk of the run's own folders and of files that are open and have no name any more; one of
    /// ``WorkspaceMeter``'s values where they can't be counted.
    package var workspace = 0
    /// Bytes of memory of all its processes; nil where a control group counts them.
    package var memory: Int?
    package var terminals = 0
    /// When it was begun to be measured; nil before the first time.
    package var measuredAt: ContinuousClock.Instant?
}

/// Measures what a run takes, now and then, for whoever asks.
package final class WorkspaceMeter: Sendable {
    private struct State {
        var usage = RunUsage()
        var nextAt: ContinuousClock.Instant?
        var isMeasuring = false
        var roots: @Sendable () -> [pid_t] = { [] }
    }

    private let folders: [String]
    private let countsMemory: Bool
    private let state = Mutex(State())
    /// The least time between two measurements; a large folder is measured less often, so that it costs 2 % at most.
    private let pause = Duration.seconds(2)

    /// - Parameter countsMemory: Whether no control group does.
    package init(folders: [String], countsMemory: Bool) {
        self.folders = folders
        self.countsMemory = countsMemory
    }

    /// From now on, what is below these processes counts, too.
    package func watch(_ roots: @Sendable @escaping () -> [pid_t]) { state.withLock { $0.roots = roots } }

    /// At most a few seconds old.
    package func usage() -> RunUsage {
        let clock = ContinuousClock()
        let start = clock.now
        let known: RunUsage? = state.withLock { state in
            if state.isMeasuring { return state.usage }
            if let next = state.nextAt, start < next { return state.usage }
            state.isMeasuring = true
            return nil
        }
        if let known { return known }
        var measured = measure(state.withLock { $0.roots })
        measured.measuredAt = start
        let end = clock.now
        return state.withLock { state in
            state.isMeasuring = false
            state.usage = measured
            state.nextAt = end + max(pause, (end - start) * 50)
            return measured
        }
    }

    private func measure(_ roots: @Sendable () -> [pid_t]) -> RunUsage {
        let processes = RunProcesses(below: roots())
        let held = HeldResources(of: processes)
        var usage = RunUsage(workspace: held.unlinkedBytes, terminals: held.terminals)
        if held.files > HeldResources.mostFiles { usage.workspace = WorkspaceMeter.tooManyFiles }
        for folder in folders where usage.workspace < WorkspaceMeter.uncounted {
            let size = WorkspaceMeter.size(of: folder)
            usage.workspace = size >= WorkspaceMeter.uncounted ? size : usage.workspace + size
        }
        if countsMemory { usage.memory = ProcessMemory.bytes(of: processes, held) }
        return usage
    }

    /// More than any limit: folders nested so deep that whatever lies in and beside them would go uncounted.
    package static let tooDeep = Int.max
    /// More than any limit: a folder that this user can't look into.
    package static let unreadable = Int.max - 1
    /// More than any limit: so many open files that nobody can look at all of them.
    static let tooManyFiles = Int.max - 2
    /// From here on a number is no count of bytes.
    package static let uncounted = Int.max - 15

    /// Which limit such a number is over, in words; nil for a count of bytes.
    package static func reason(for measured: Int) -> String? {
        switch measured {
        case tooDeep: "\(FolderWalk.deepest) folders deep"
        case unreadable: "folders that can be read"
        case tooManyFiles: "\(HeldResources.mostFiles) open files"
        default: nil
        }
    }

    /// Blocks of everything below a folder, in bytes, or one of the values above; links are not followed and other file
    /// systems not entered.
    package static func size(of folder: String) -> Int {
        var bytes = 0
        do {
            try FolderWalk.visit(folder, opensLocked: true) { _, _, info in bytes += Int(info.st_blocks) * 512 }
        } catch Errno.fileNameTooLong {
            return tooDeep
        } catch Errno.permissionDenied {
            return unreadable
        } catch {
            // What can't be walked to its end is measured as far as it goes.
        }
        return bytes
    }
}
