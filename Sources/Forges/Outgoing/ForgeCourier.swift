import ForgeConnection
import DaemonLog
import Foundation
import Logging
import Results
import Store

/// Delivers the states of one repository from the outbox to its forge.
///
/// It delivers at least once: if the result of a delivery is unknown, it first looks at what the forge has and then
/// repeats it. The forge ends up with the newest state of each item; earlier states may be skipped. Items are delivered
/// concurrently, each in its own order.
struct ForgeCourier: Sendable {
    /// The most deliveries that run at the same time.
    static let width = 4
    /// The longest pause between two attempts to deliver an item, in seconds.
    static let longestPause = 300.0
    /// The most consecutive answers "not found" or "forbidden" after which a delivery is given up.
    static let mostRefusals = 5

    let repository: String
    let index: Store.Index
    let service: any ForgeService
    let log: Logger
    /// Reads a result file of a run; nil if it is gone.
    var resultFile: @Sendable (RunID, String) async throws -> [UInt8]? = { _, _ in nil }
    var now: @Sendable () -> Date = { Date() }

    private enum Event: Sendable {
        /// A delivery ended; the forge refuses all requests until then.
        case ended(Int64, pausedUntil: Date?)
        case wanted
    }

    /// Delivers every item that is due, also those that become so meanwhile: a slow answer delays only its own item.
    ///
    /// - Parameter wanted: Tells that there may be new items.
    /// - Returns: When the next delivery is due; nil if there is none.
    func deliver(hearing wanted: ForgeSignal = ForgeSignal()) async throws -> Date? {
        try await withThrowingTaskGroup(of: Event.self) { group in
            var underway: Set<Int64> = []
            var pausedUntil: Date?
            var isListening = false
            while true {
                try Task.checkCancellation()
                if !isListening {
                    isListening = true
                    group.addTask {
                        await wanted.wait()
                        return .wanted
                    }
                }
                wanted.clear()
                let (due, next) = try await open(but: underway)
                if let end = pausedUntil, end <= now() { pausedUntil = nil }
                for item in due.prefix(pausedUntil == nil ? Self.width - underway.count : 0) {
                    underway.insert(item.id)
                    group.addTask { .ended(item.id, pausedUntil: try await deliver(item)) }
                }
                guard !underway.isEmpty else {
                    group.cancelAll()
                    return pausedUntil ?? next
                }
                switch try await group.next() {
                case .ended(let id, let pause):
                    underway.remove(id)
                    pausedUntil = [pausedUntil, pause].compactMap { $0 }.max()
                case .wanted: isListening = false
                case nil: break
                }
            }
        }
    }

    /// Items that are due, without those that are `underway`; and when the next one will be.
    private func open(but underway: Set<Int64>) async throws -> (due: [ForgeItem], next: Date?) {
        // Those that are due first come first, so there is no need to read all.
        let items = try await index.openForgeItems(of: repository, limit: 2 * Self.width)
            .filter { !underway.contains($0.id) }
        let date = now()
        // If the clock was set back, a stored time must not delay a delivery for long.
        let horizon = date.addingTimeInterval(2 * 7_200)
        return (items.filter { $0.dueAt <= date || $0.dueAt > horizon }, items.map(\.dueAt).min())
    }

    private func deliver(_ item: ForgeItem) async throws -> Date? {
        let past = ForgePast(known: item.known, isUncertain: item.isUncertain || item.failures > 0)
        do {
            try await index.beginForgeItem(item.id)
            let known = try await show(item, past)
            try await index.endForgeItem(item.id, version: item.version, known: known)
            return nil
        } catch let error as ForgeError {
            return try await failed(item, error)
        }
    }

    private func show(_ item: ForgeItem, _ past: ForgePast) async throws -> String? {
        switch try ForgeWanted(json: item.wanted) {
        case .check(let state): try await service.show(state, after: past)
        case .comment(let state): try await service.show(state, after: past)
        case .review(let state): try await service.show(state, after: past)
        case .scan(let scan):
            if let sarif = try await resultFile(scan.run, scan.file) {
                try await service.send(scan, sarif)
            } else {
                throw ForgeError(.refused, "run \(scan.run) has no \(scan.file) any more")
            }
        case .text(let text): try await service.session.show(text)
        case .note(let note): try await service.session.show(note, after: past)
        case .answer(let answer): try await service.session.show(answer, after: past)
        }
    }

    private func failed(_ item: ForgeItem, _ error: ForgeError) async throws -> Date? {
        // A commit may be tested before the forge has received it, and a missing permission may be granted later.
        let isPatient = [.notFound, .forbidden].contains(error.code) && item.failures + 1 < Self.mostRefusals
        guard error.mayPass || isPatient else {
            log.error(
                "\(repository): \(item.thing) can't be shown at the forge: \(error)",
                metadata: .code(.forgeRefused, repository: repository))
            // Of a review, a part may have been shown before.
            try await index.refuseForgeItem(
                item.id, version: item.version, why: error.description, isUncertain: item.thing.hasPrefix("review "))
            return nil
        }
        let pause = min(pow(2, Double(min(item.failures, 20))), Self.longestPause)
        let until = max(error.retryAt ?? .distantPast, now().addingTimeInterval(pause))
        if item.failures == 0 || item.failures % 10 == 9 {
            log.warning(
                "\(repository): \(item.thing) could not be shown at the forge; it is tried again: \(error)",
                metadata: .code(.forgeDelayed, repository: repository))
        }
        // After a refusal nothing was done. Without an answer, the request may have taken effect.
        let isUncertain = item.isUncertain || [.unreachable, .unavailable, .badAnswer].contains(error.code)
        try await index.postponeForgeItem(item.id, until: until, isUncertain: isUncertain)
        return error.code == .rateLimited ? until : nil
    }
}
