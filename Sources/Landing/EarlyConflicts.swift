import DaemonLog
package import Running
package import Watching
import Foundation
import Git
package import Logging
import Results
package import Store

/// Merges open changes with each other in idle time, so that authors are told early what will conflict.
package actor EarlyConflicts {
    private let repository: WatchedRepository
    private let index: Store.Index
    private let log: Logger
    /// Whether no run goes on.
    private let isIdle: @Sendable () -> Bool
    /// What is known of pairs of heads: the files that conflict, none where they merge.
    private var known: [MergePair: [String]] = [:]
    private var stored: [EarlyConflict]?

    /// The newest open changes of each target that are looked at: every two of them are merged.
    private static let mostChanges = 40
    /// Pairs that one process merges.
    private static let mostAtOnce = 100
    /// Pairs that are remembered; more are forgotten all at once.
    private static let mostKnown = 20_000

    package init(
        repository: WatchedRepository, index: Store.Index, log: Logger, isIdle: @escaping @Sendable () -> Bool
    ) {
        self.repository = repository
        self.index = index
        self.log = log
        self.isIdle = isIdle
    }

    /// Goes on until the task is cancelled: after news, once the machine is idle.
    package func run(_ news: ChangeNotifier) async {
        while !Task.isCancelled {
            let seen = news.mark(of: [])
            do {
                if isIdle(), try await pass() { news.tellAll() }
            } catch is CancellationError {
                return
            } catch {
                log.debug(
                    "\(repository.name): open changes are not merged with each other: \(error)",
                    metadata: .code(.earlyConflictsUnknown, repository: repository.name))
            }
            await news.wait(since: seen)
            // Several news come together, and no run must wait for this.
            do { try await Task.sleep(for: .seconds(2)) } catch { return }
        }
    }

    /// Merges the pairs that are new, and stores which of all conflict.
    ///
    /// - Returns: Whether others conflict than before.
    @discardableResult
    func pass() async throws -> Bool {
        let open = try await index.changes(of: repository.name, states: [.open, .stale])
        var pairs: [(one: ChangeRecord, other: ChangeRecord, pair: MergePair)] = []
        for (_, changes) in Dictionary(grouping: open, by: \.target) {
            let newest = changes.sorted { ($0.updatedAt, $0.name) > ($1.updatedAt, $1.name) }.prefix(Self.mostChanges)
                .sorted { $0.name < $1.name }
            for (place, one) in newest.enumerated() {
                for other in newest[(place + 1)...] {
                    guard let head = OID(hex: one.head), let otherHead = OID(hex: other.head) else { continue }
                    pairs.append((one, other, MergePair(head, into: otherHead)))
                }
            }
        }
        if known.count > Self.mostKnown { known = [:] }
        var left = pairs.map(\.pair).filter { known[$0] == nil }[...]
        if !left.isEmpty {
            let merger = try await ChangeMerger.find()
            while !left.isEmpty, isIdle() {
                let part = Array(left.prefix(Self.mostAtOnce))
                let outcomes = try await merger.outcomes(of: part, objects: repository.store)
                for (pair, outcome) in zip(part, outcomes) {
                    if case .conflicts(let conflicts) = outcome {
                        known[pair] = conflicts.prefix(20).map(\.path)
                    } else {
                        known[pair] = []
                    }
                }
                // One that Git can't merge is not asked again; the rest is.
                if outcomes.count < part.count { known[part[outcomes.count]] = [] }
                left = left.dropFirst(min(outcomes.count + 1, part.count))
                try Task.checkCancellation()
            }
        }
        let found = pairs.compactMap { one, other, pair -> EarlyConflict? in
            guard let paths = known[pair], !paths.isEmpty else { return nil }
            return EarlyConflict(
                change: one.name, head: one.head, other: other.name, otherHead: other.head, paths: paths)
        }
        guard found != stored else { return false }
        try await index.setEarlyConflicts(found, of: repository.name)
        stored = found
        return true
    }
}
