import DaemonLog
import Logging
import RefHints
import Results
import Synchronization

/// Listens to what the kernel says about the refs of one repository. Where it says nothing, the refs are polled.
final class RefListener: Sendable {
    private let repository: WatchedRepository
    /// The time between two observations if nothing else causes one; nil for the standard.
    private let wanted: Duration?
    private let log: Logger
    /// Whether the kernel reports every moved ref.
    private let hasEvents = Atomic(false)

    init(_ repository: WatchedRepository, interval: Duration?, log: Logger) {
        (self.repository, wanted, self.log) = (repository, interval, log)
    }

    /// The time between two observations if nothing else causes one.
    var interval: Duration { wanted ?? (hasEvents.load(ordering: .relaxed) ? .seconds(180) : .seconds(30)) }

    /// Calls `onHint` whenever a ref may have moved, until the task is cancelled. Returns at once for a remote, of which
    /// this machine has no events.
    func run(onHint: @Sendable () -> Void) async {
        guard !repository.isRemote else { return }
        var isSaid = false
        while !Task.isCancelled {
            do {
                let hints = try await FileEvents.refChanges(inGitDirectories: [repository.gitDirectory])
                hasEvents.store(FileEventReach.isWhole(at: repository.gitDirectory), ordering: .relaxed)
                for await hint in hints {
                    if let limit = hint.limit {
                        hasEvents.store(false, ordering: .relaxed)
                        warn("\(repository.name): \(limit)")
                    }
                    isSaid = false
                    onHint()
                }
                hasEvents.store(false, ordering: .relaxed)
                return
            } catch {
                hasEvents.store(false, ordering: .relaxed)
                if !isSaid { warn("\(repository.name) is only polled, every \(interval.inWords): \(error)") }
                isSaid = true
                // What the kernel refuses now (descriptors, watches) it may grant when other processes have ended.
                do { try await Task.sleep(for: .seconds(60)) } catch { return }
            }
        }
    }

    private func warn(_ text: String) {
        log.warning("\(text)", metadata: .code(.onlyPolled, repository: repository.name))
    }
}
