import AppStore
import AsyncHTTPClient
import DaemonLog
import Foundation
package import Logging
import Pipeline
import Results
import Store
import TerminalText

/// Makes tasks of what testers send from TestFlight, where the target declares that. Webhooks say where to look; a poll
/// finds what they did not say.
package struct TestFlightIntake: Sendable {
    /// The time between two looks, in seconds. Apple takes 3,600 requests an hour with one key.
    static let interval = 600.0
    /// Submissions that are older are no news, in seconds.
    static let memory = 3 * 86_400.0
    /// How long Apple is given to make a crash's log, in seconds.
    static let patience = 3_600.0

    let requests: TaskRequests
    let sources: TaskSources
    let notices: TestFlightNotices
    /// The value of a secret; nil: it is not set.
    let secret: @Sendable (_ name: String, _ repository: String) async throws -> [UInt8]?
    let log: Logger
    /// Where the API is; tests have another one.
    var root: String?
    var pauses = AppStorePauses()

    package init(
        requests: TaskRequests, sources: TaskSources, notices: TestFlightNotices,
        secret: @escaping @Sendable (_ name: String, _ repository: String) async throws -> [UInt8]?, log: Logger
    ) {
        (self.requests, self.sources, self.notices, self.secret, self.log) = (requests, sources, notices, secret, log)
    }

    /// Runs until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            notices.clear()
            let apps = await sources.all { if case .testFlight(let app) = $0 { app } else { nil } }
            for (repository, app) in apps {
                do {
                    let count = try await look(repository, app)
                    if count > 0 { log.debug("\(repository): \(count) submissions from TestFlight") }
                } catch is CancellationError {
                    return
                } catch {
                    log.warning(
                        "\(repository): what testers sent can't be read: \(error)",
                        metadata: .code(.taskFailed, repository: repository))
                }
            }
            await withTaskGroup(of: Void.self) { [notices] group in
                group.addTask { await notices.wait() }
                group.addTask { try? await Task.sleep(for: .seconds(Self.interval)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Takes what is new of one app.
    ///
    /// - Returns: How many submissions were new.
    func look(_ repository: String, _ app: TestFlight) async throws -> Int {
        guard let key = try await secret(app.key, repository) else {
            throw TaskFailure.unusable("secret \(app.key) is not set: `pipectl secrets set \(app.key)`")
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: TestFlightFeedback.configuration)
        do {
            let feedback = try TestFlightFeedback(
                app, key: String(decoding: key, as: UTF8.self), http: http, root: root, pauses: pauses)
            var count = 0
            for submission in try await feedback.submissions(since: Date().addingTimeInterval(-Self.memory)) {
                if try await take(submission, feedback, repository) { count += 1 }
            }
            try await http.shutdown()
            return count
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    /// Makes a task of a submission, or counts it; once.
    private func take(
        _ submission: TestFlightSubmission, _ feedback: TestFlightFeedback, _ repository: String
    ) async throws -> Bool {
        let key = "testflight \(submission.id)"
        guard try await requests.index.task(withKey: key, repository: repository) == nil else { return false }
        var draft = TaskDraft(
            repository: repository, text: Self.text(of: submission), source: .testFlight(id: submission.id),
            reporter: "a tester at TestFlight", key: key)
        switch submission.kind {
        case .screenshot:
            // A picture alone says nothing that an agent could work on.
            guard !submission.comment.allSatisfy(\.isWhitespace) else { return false }
            draft.title = Self.title(submission.comment)
        case .crash:
            guard let log = try await feedback.crashLog(of: submission.id) else {
                // Apple makes the log later than the submission.
                guard -submission.createdAt.timeIntervalSinceNow > Self.patience else { return false }
                draft.title = Self.title("Crash without a log: \(submission.comment)")
                break
            }
            draft.crash = Data(log.utf8.prefix(TaskDraft.largestCrash))
        }
        return try await add(draft)
    }

    private func add(_ draft: TaskDraft) async throws -> Bool {
        do {
            return try await add(draft, isCounted: true)
        } catch let failure as TaskFailure {
            guard let report = draft.crash else { throw failure }
            // A log that can't be read is still something that a person can.
            var plain = draft
            plain.crash = nil
            plain.title = Self.title("Crash with a log that can't be read")
            plain.files = [TaskDraft.File(name: "crash-log.txt", content: report)]
            return try await add(plain, isCounted: true)
        }
    }

    private func add(_ draft: TaskDraft, isCounted: Bool) async throws -> Bool {
        let (task, isNew) = try await requests.add(draft, by: .pipectl)
        if isNew {
            log.notice(
                "task \(task.id) of \(task.repository): \(TerminalText.name(task.title))",
                metadata: .code(.taskAdded, repository: task.repository))
        }
        return isCounted
    }

    /// What a tester said, and on what. All of it is the tester's.
    private static func text(of submission: TestFlightSubmission) -> String {
        var lines = [submission.comment]
        let facts = [
            submission.build.map { "build \($0)" }, submission.device.isEmpty ? nil : submission.device,
            submission.system.isEmpty ? nil : "system \(submission.system)",
        ].compactMap(\.self)
        if !facts.isEmpty { lines.append("(\(facts.joined(separator: ", ")))") }
        return lines.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n\n")
    }

    private static func title(_ text: String) -> String {
        var title = TerminalText.name(text, limit: 120)
        while title.utf8.count > TaskDraft.longestTitle { title.removeLast() }
        return title
    }
}
