import ForgeConnection
import DaemonLog
import Foundation
import Logging
import Results
import Store
import TerminalText

/// Learns from one repository's forge what is new about its changes, and has commands in comments carried out.
///
/// Webhooks say where to look; a poll finds what they did not say. What is learnt is in the store before anybody is told.
actor ForgeReceiver {
    /// The time between two polls, in seconds.
    static let pollInterval = 60.0
    /// Changes that are asked about one by one.
    static let mostSingle = 10

    let record: ForgeRecord
    private let index: Store.Index
    private let sessions: ForgeSessions
    private let learner: ForgeLearner
    private let orders: ForgeOrders
    private let log: Logger
    private let now: @Sendable () -> Date
    /// What was told and could not be asked about yet.
    private var open = ForgeInbox.Contents()
    private var pause = ForgePause()
    private var pollAt = Date.distantPast
    /// How far the issues were read; a process that begins reads those of a day.
    private var issues: ForgeCursor?

    init(
        _ record: ForgeRecord, index: Store.Index, sessions: ForgeSessions, host: ForgeHost, log: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.record, self.index, self.sessions, self.log, self.now) = (record, index, sessions, log, now)
        learner = ForgeLearner(record: record, index: index, sessions: sessions, host: host)
        orders = ForgeOrders(record: record, index: index, sessions: sessions, host: host, log: log, now: now)
    }

    /// Looks at what `contents` tell, and polls where it is time.
    ///
    /// - Returns: When to come again, at the latest.
    func take(_ contents: ForgeInbox.Contents) async throws -> Date {
        open.merge(contents)
        if open.isOverfull { pollAt = .distantPast }
        open.isOverfull = false
        do {
            try await index.keepForgeDeliveries(open.codes, of: record.repository)
            open.codes = []
            try await index.keepForgePushes(
                open.pushes.mapValues { ForgePusher(login: $0.login, id: $0.id) }, of: record.repository)
            open.pushes = [:]
            // A hint that comes meanwhile does not shorten the pause that the forge asked for.
            guard pause.end <= now() else { return pause.end }
            try await work()
            if pause.ends() {
                log.notice(
                    "\(record.repository): its forge can be asked again",
                    metadata: .code(.forgeReachable, repository: record.repository))
            }
            return pollAt
        } catch let error as ForgeError {
            let failures = pause.begin(after: error, at: now())
            if failures == 1 || failures % 10 == 0 {
                log.warning(
                    "\(record.repository): its forge can't be asked about changes (\(failures) times in a row): \(error)",
                    metadata: .code(.forgeUnreachable, repository: record.repository)
                )
            }
            return pause.end
        }
    }

    /// What was told and not looked at, for the receiver that follows this one.
    func leave() -> ForgeInbox.Contents {
        defer { open = ForgeInbox.Contents() }
        return open
    }

    private func work() async throws {
        while let button = open.buttons.first {
            try await orders.press(button)
            open.buttons.removeFirst()
        }
        while let number = open.changes.first {
            try await skippingUnreadable(number) { try await learner.learn([number: nil]) }
            open.changes.remove(number)
        }
        while let number = open.commented.first {
            try await skippingUnreadable(number) { try await orders.readComments(of: .change(number)) }
            open.commented.remove(number)
        }
        while let number = open.issues.first {
            let labellers = open.labellers[number] ?? []
            try await skippingUnreadable(number) { try await orders.readIssue(number, labellers: labellers) }
            open.issues.remove(number)
            open.labellers[number] = nil
        }
        let date = now()
        // A clock that was set back must not hold the poll up.
        guard pollAt <= date || pollAt > date.addingTimeInterval(2 * Self.pollInterval) else { return }
        try await poll()
        pollAt = now().addingTimeInterval(Self.pollInterval)
    }

    /// One change that can't be read must not keep all others waiting.
    private func skippingUnreadable(_ number: Int, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as ForgeError where [.badAnswer, .refused, .forbidden].contains(error.code) {
            log.warning(
                "\(record.repository): change \(number) can't be read at its forge: \(error)",
                metadata: .code(.forgeUnreachable, repository: record.repository))
        }
    }

    /// Stores what the forge knows of changes whose heads these are, where that is not known yet.
    ///
    /// What it can't say now, the next poll finds.
    func learn(heads: [Int: String]) async {
        do {
            let known = try await index.forgeChanges(of: record.repository, named: heads.keys.map { "\($0)" })
            let current = Dictionary(known.map { ($0.name, $0.facts.head) }, uniquingKeysWith: { $1 })
            let new = heads.keys.filter { current["\($0)"] != heads[$0] }
            guard !new.isEmpty else { return }
            if new.count <= Self.mostSingle { return try await learner.learn(Dictionary(new.map { ($0, nil) }) { $1 }) }
            // Of many, a list tells in fewer requests.
            guard let (found, _) = try await sessions.session().reader.changes(since: nil, etag: nil) else { return }
            try await learner.learn(
                Dictionary(
                    found.filter { new.contains($0.number) }.map { ($0.number, $0) },
                    uniquingKeysWith: { first, _ in first }))
        } catch is CancellationError {
        } catch {
            log.debug(
                "\(record.repository): its forge did not tell about \(heads.count) changes: \(error)",
                metadata: .code(.forgeUnreachable, repository: record.repository))
            pollAt = .distantPast
        }
    }

    private func poll() async throws {
        try await pollChanges()
        try await pollIssues()
    }

    /// Finds the issues that webhooks did not tell of, where tasks are made of some.
    private func pollIssues() async throws {
        guard let interest = try await orders.host.tasks?.interest(record.repository), interest.isDeclared else {
            return
        }
        let start = max(record.connectedAt, now().addingTimeInterval(-ForgeOrders.longestDelay))
        let since = issues?.seen ?? start
        guard let (found, etag) = try await sessions.session().reader.issues(since: since, etag: issues?.etag) else {
            return
        }
        for issue in found where issue.updatedAt >= since {
            try await skippingUnreadable(issue.number) { try await orders.read(issue, labellers: [], interest) }
        }
        issues = ForgeCursor(seen: max(since, found.map(\.updatedAt).max() ?? since), etag: etag)
    }

    private func pollChanges() async throws {
        let cursor = try await index.forgeCursor(of: record.repository)
        guard let (found, etag) = try await sessions.session().reader.changes(since: cursor?.seen, etag: cursor?.etag)
        else { return }
        let newest = found.map(\.updatedAt).max()
        try await learner.learn(
            Dictionary(found.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first }),
            isBaseline: cursor == nil)
        // What was said before the connection is no command.
        if cursor != nil {
            for change in found {
                try await skippingUnreadable(change.number) {
                    try await orders.readComments(of: .change(change.number))
                }
            }
        }
        let seen = [newest, cursor?.seen].compactMap { $0 }.max() ?? record.connectedAt
        try await index.keepForgeCursor(ForgeCursor(seen: seen, etag: etag), of: record.repository)
    }
}
