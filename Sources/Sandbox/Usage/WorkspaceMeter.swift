import Synchronization
import SystemPackage

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Darwin)
    package import Darwin
#endif

/// A run's use of resources that the kernel does not limit by itself.
package struct RunUsage: Sendable, Equatable {
    /// Bytes on disk, of the run's folders and of open files without a name. One of ``WorkspaceMeter``'s special values
    /// if they can't be counted.
    package var workspace = 0
    /// Bytes of memory of all its processes; nil if a control group counts them.
    package var memory: Int?
    /// The number of terminals in its sandboxes.
    package var terminals = 0
    /// When the measurement began; nil before the first one.
    package var measuredAt: ContinuousClock.Instant?
}

/// Measures a run's use of resources from time to time, for all callers.
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
    /// The shortest time between two measurements. A large folder is measured less often, so that measuring takes at
    /// most 2 % of the time.
    private let pause = Duration.seconds(2)

    /// - Parameter countsMemory: Whether to measure memory, since no control group does.
    package init(folders: [String], countsMemory: Bool) {
        self.folders = folders
        self.countsMemory = countsMemory
    }

    /// From now on, also counts the processes below these.
    package func watch(_ roots: @Sendable @escaping () -> [pid_t]) { state.withLock { $0.roots = roots } }

    /// The latest measurement, at most a few seconds old.
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

    /// A value above every limit: the folders are nested too deep to be counted.
    package static let tooDeep = Int.max
    /// A value above every limit: this user can't read one of the folders.
    package static let unreadable = Int.max - 1
    /// A value above every limit: there are more open files than can be checked.
    static let tooManyFiles = Int.max - 2
    /// Values from here on are special values and no count of bytes.
    package static let uncounted = Int.max - 15

    /// The limit that a special value stands for, in words; nil for a count of bytes.
    package static func reason(for measured: Int) -> String? {
        switch measured {
        case tooDeep: "\(FolderWalk.deepest) folders deep"
        case unreadable: "folders that can be read"
        case tooManyFiles: "\(HeldResources.mostFiles) open files"
        default: nil
        }
    }

    /// The size on disk of everything below a folder, in bytes, or one of the special values. Links are not followed
    /// and other file systems not entered.
    package static func size(of folder: String) -> Int {
        var bytes = 0
        do {
            try FolderWalk.visit(folder, opensLocked: true) { _, _, info in bytes += Int(info.st_blocks) * 512 }
        } catch Errno.fileNameTooLong {
            return tooDeep
        } catch Errno.permissionDenied {
            return unreadable
        } catch {
            // If the walk fails, the size of the part that was visited counts.
        }
        return bytes
    }
}
