import Control
import DaemonLog
import Foundation
import Logging
import Pipeline
import Results
import Sandbox
import Store
import TerminalText

/// Runs the line by which a repository tells reporters what happened to their tasks. What was told is an event of the
/// task, so that it is told once. If the daemon ends while the line runs, it is told again after the next start.
package struct TaskTeller: Sendable {
    let index: Store.Index
    let log: Logger

    /// The most times that the same is tried.
    private static let mostFailures = 5
    /// The longest time that a line may take.
    private static let deadline = Duration.seconds(60)
    /// The tasks that are looked at: what is older is no news.
    private static let newest = 200

    /// What the line reads on its standard input.
    struct News: Codable, Equatable {
        var task: TaskID
        var repository: String
        var title: String
        var reporter: String?
        /// `planned`, `ready`, `landed`, `released`, `delivered`, `givenUp`, `refused`, `cancelled`, `answered` or
        /// `reopened`.
        var what: String
        var reason: String
        var change: String?
        var link: String?
        var version: String?
        /// The number of the event in the history of the task.
        var event: Int
    }

    /// Tells what was not told yet.
    func tell() async {
        do {
            for task in try await index.tasks(TaskFilter(limit: Self.newest)) {
                guard let line = task.rules.tell else { continue }
                try await tell(task, by: line)
            }
        } catch is CancellationError {
            return
        } catch {
            log.warning("reporters of tasks can't be told: \(error)", metadata: .code(.taskTellFailed))
        }
    }

    private func tell(_ task: TaskRecord, by line: String) async throws {
        let events = try await index.taskEvents(of: task.id)
        let told = Set(events.compactMap(Self.told))
        for event in events where !told.contains(event.number) {
            guard let news = Self.news(event, task) else { continue }
            let body = try ArchiveJSON.pretty(news)
            var failure = ""
            for attempt in 1...Self.mostFailures {
                let result = try await run(line, body)
                failure = result ?? ""
                if result == nil { break }
                log.warning(
                    "task \(task.id): its reporter could not be told (\(attempt)): \(failure)",
                    metadata: .code(.taskTellFailed, repository: task.repository, ["task": String(task.id)]))
                if attempt < Self.mostFailures { try await Task.sleep(for: .seconds(attempt)) }
            }
            let end = failure.isEmpty ? "by the line of the repository" : "not told: \(failure)"
            try await index.appendTaskEvent(.told(what: "event \(event.number), \(news.what), \(end)"), to: task.id)
        }
    }

    /// - Returns: What went wrong; nil if it succeeded.
    private func run(_ line: String, _ body: [UInt8]) async throws -> String? {
        var command = ExternalCommand(
            "/bin/sh", ["-e", "-c", line], deadline: Self.deadline, outputLimit: 4_096)
        command.input = body
        let result = try await command.run()
        return result.succeeded ? nil : TerminalText.name(result.text, limit: 300)
    }

    /// The event that a told one is about.
    static func told(_ event: TaskEvent) -> Int? {
        guard case .told(let text) = event.what, text.hasPrefix("event ") else { return nil }
        return Int(text.dropFirst("event ".count).prefix { $0 != "," })
    }

    /// What is worth telling of an event; nil: nothing.
    static func news(_ event: TaskEvent, _ task: TaskRecord) -> News? {
        var news = News(
            task: task.id, repository: task.repository, title: task.title, reporter: task.reporter, what: "",
            reason: "", change: task.change, link: task.changeLink, version: nil, event: event.number)
        switch event.what {
        case .planned(let plan, _): (news.what, news.reason) = ("planned", plan.summary)
        case .changeOpened(let name, let link, _):
            (news.what, news.change, news.link) = ("ready", name, link)
        case .landed(let commit): (news.what, news.reason) = ("landed", commit)
        case .released(let version, _): (news.what, news.version) = ("released", version)
        case .delivered(let version, let to): (news.what, news.version, news.reason) = ("delivered", version, to)
        case .gaveUp(let reason): (news.what, news.reason) = ("givenUp", reason)
        case .refused(let reason), .planRefused(_, let reason): (news.what, news.reason) = ("refused", reason ?? "")
        case .cancelled(let reason): (news.what, news.reason) = ("cancelled", reason ?? "")
        case .answered(let reason): (news.what, news.reason) = ("answered", reason)
        case .reopened(let reason): (news.what, news.reason) = ("reopened", reason)
        default: return nil
        }
        return news
    }
}
