import DaemonLog
import Running
import Preparing
import Results
import Store
import Foundation
import Logging

/// Sends notifications: stores them in the outbox and delivers from there, one after the other. Notifications of one
/// run to one receiver keep their order, and do not wait for those of other runs.
///
/// It reads the index later, so no receiver can delay a run. Stored notifications survive a restart; one that was
/// delivered just before a crash may be delivered twice.
struct Notifier: Sendable {
    /// The oldest end that is still news, in seconds: a daemon that was off for a month does not report all of it.
    static let memory = 86_400.0
    /// The number of failures after which an event is given up, some 12 hours after it happened.
    static let mostFailures = 20

    let index: Store.Index
    let options: NotifyOptions
    let target: NotifyTarget
    let news: ChangeNotifier
    let log: Logger

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let mark = news.mark(of: [])
            var pause = Duration.seconds(60)
            do {
                try await index.openOutbox()
                try await note()
                pause = min(pause, try await deliverAll())
            } catch is CancellationError {
                return
            } catch {
                log.warning(
                    "an event could not be stored for notification: \(error)", metadata: .code(.notificationFailed))
                pause = .seconds(5)
            }
            await withTaskGroup(of: Void.self) { [news, pause] group in
                group.addTask { await news.wait(since: mark) }
                group.addTask { try? await Task.sleep(for: pause) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Stores everything that has happened since the last call.
    func note() async throws {
        let since = Date().addingTimeInterval(-Self.memory)
        while true {
            let ids = try await index.untold(since: since)
            for id in ids {
                guard let run = try await index.run(id) else { continue }
                let events = NotifyEvent.all(of: run, before: try await index.verdict(before: run.summary))
                    .filter { options.events.contains($0.event) }
                try await index.note(
                    events.flatMap { items($0.event.rawValue, body: try? $0.json()) }, of: id, ended: true)
            }
            if ids.count < 100 { break }
        }
        guard options.events.contains(.approval) else { return }
        for question in try await index.untoldQuestions() {
            guard let run = try await index.run(question.run) else { continue }
            let event = NotifyEvent.question(run, step: question.step, why: question.why, at: Date())
            // The row without a receiver shows that the question was stored.
            try await index.note(
                items(question.kind, body: try event.json()) + [(question.kind, nil)], of: run.id, ended: false)
        }
    }

    /// One item for each receiver.
    private func items(_ kind: String, body: String?) -> [(kind: String, body: String?)] {
        options.receivers.map { ("\(kind)@\($0.rawValue)", body) }
    }

    /// Delivers what is due, the earliest first; returns the time until the next one is due.
    func deliverAll() async throws -> Duration {
        while true {
            try Task.checkCancellation()
            // If the clock was set back, an item must not be delayed for long.
            guard let item = try await index.nextOfOutbox(horizon: Date().addingTimeInterval(7_200)) else { break }
            let left = item.dueAt.timeIntervalSinceNow
            if left > 0, left < 7_200 { return .seconds(left) }
            do {
                // An item that was stored without a receiver is for all of them.
                let receivers = item.receiver.map { name in options.receivers.filter { $0.rawValue == name } }
                try await target.deliver(item.body, to: receivers ?? options.receivers)
                try await index.closeOutboxItem(item.id)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                guard item.failures + 1 < Self.mostFailures, !(error is NotifyRefusal) else {
                    log.error(
                        "the notification of run \(item.run) (\(item.kind)) was abandoned: \(error)",
                        metadata: .code(.notificationAbandoned, run: item.run))
                    try await index.closeOutboxItem(item.id)
                    continue
                }
                let pause = Self.pause(after: item.failures)
                log.warning(
                    "the notification of run \(item.run) (\(item.kind)) failed; next attempt in \(Figures.duration(pause)): \(error)",
                    metadata: .code(.notificationFailed, run: item.run)
                )
                try await index.postponeOutboxItem(item.id, until: Date().addingTimeInterval(pause))
            }
        }
        return .seconds(60)
    }

    /// In seconds: 1, 2, 4 and so on, at most an hour.
    static func pause(after failures: Int) -> Double { min(pow(2, Double(failures)), 3_600) }
}
