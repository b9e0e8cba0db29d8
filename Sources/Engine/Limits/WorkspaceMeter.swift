import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Measures how much of the disk a run's own folders take, now and then, for whoever asks.
package final class WorkspaceMeter: Sendable {
    private struct State {
        var bytes = 0
        var nextAt: ContinuousClock.Instant?
        var isMeasuring = false
    }

    private let folders: [String]
    private let state = Mutex(State())
    /// The least time between two measurements; a large folder is measured less often, so that it costs 2 % at most.
    private let pause = Duration.seconds(2)

    init(folders: [String]) { self.folders = folders }

    /// Bytes on disk, at most a few seconds old; ``tooDeep`` where they can't be counted.
    func bytes() -> Int {
        let clock = ContinuousClock()
        let start = clock.now
        let known: Int? = state.withLock { state in
            if state.isMeasuring { return state.bytes }
            if let next = state.nextAt, start < next { return state.bytes }
            state.isMeasuring = true
            return nil
        }
        if let known { return known }
        let measured = folders.reduce(0) { sum, folder in
            let size = WorkspaceMeter.size(of: folder)
            return size == WorkspaceMeter.tooDeep || sum == WorkspaceMeter.tooDeep ? WorkspaceMeter.tooDeep : sum + size
        }
        let end = clock.now
        return state.withLock { state in
            state.isMeasuring = false
            state.bytes = measured
            state.nextAt = end + max(pause, (end - start) * 50)
            return measured
        }
    }

    /// More than any limit: folders nested so deep that whatever lies in and beside them would go uncounted.
    package static let tooDeep = Int.max

    /// Blocks of everything below a folder, in bytes, or ``tooDeep``; links are not followed and other file systems not
    /// entered.
    package static func size(of folder: String) -> Int {
        var bytes = 0
        do {
            try FolderWalk.visit(folder) { _, _, info in bytes += Int(info.st_blocks) * 512 }
        } catch Errno.fileNameTooLong {
            return tooDeep
        } catch {
            // What can't be walked to its end is measured as far as it goes.
        }
        return bytes
    }
}
