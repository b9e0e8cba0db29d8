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
    /// The longest pause after failures, in seconds.
    static let longestPause = 600.0
    /// Comments that are older are not obeyed, whatever was missed: nobody waits for them any more. In seconds.
    static let longestDelay = 86_400.0
    /// Changes that are asked about one by one.
    static let mostSingle = 10
    /// Orders at one change that are answered in an hour.
    static let mostOrders = 20

    let record: ForgeRecord
    private let index: Store.Index
    private let sessions: ForgeSessions
    private let host: ForgeHost
    private let log: Logger
    private let now: @Sendable () -> Date
    /// Buttons that could not be asked about yet.
    private var buttons: [ForgeButton] = []
    private var commented: Set<Int> = []
    private var changes: Set<Int> = []
    private var failures = 0
    private var pollAt = Date.distantPast
    /// After a failure, the forge is not asked before.
    private var retryAt = Date.distantPast

    init(
        _ record: ForgeRecord, index: Store.Index, sessions: ForgeSessions, host: ForgeHost, log: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.record, self.index, self.sessions) = (record, index, sessions)
        (self.host, self.log, self.now) = (host, log, now)
    }

    private var reader: any ForgeReading {
        get throws { try sessions.session().reader }
    }

    /// Who asks, for people.
    private func name(_ user: ForgeUser) throws -> String {
        "\(user.login) at \(try sessions.session().address.kind.title)"
    }

    /// Looks at what `contents` tell, and polls where it is time.
    ///
    /// - Returns: When to come again, at the latest.
    func take(_ contents: ForgeInbox.Contents) async throws -> Date {
        changes.formUnion(contents.changes)
        commented.formUnion(contents.commented)
        buttons += contents.buttons
        if contents.isOverfull { pollAt = .distantPast }
        do {
            try await index.keepForgeDeliveries(contents.codes, of: record.repository)
            try await index.keepForgePushes(
                contents.pushes.mapValues { ForgePusher(login: $0.login, id: $0.id) }, of: record.repository)
            // A hint that comes meanwhile does not shorten the pause that the forge asked for.
            guard retryAt <= now() else { return retryAt }
            try await work()
            if failures > 0 {
                log.notice(
                    "\(record.repository): its forge can be asked again",
                    metadata: .code(.forgeReachable, repository: record.repository))
            }
            failures = 0
            return pollAt
        } catch let error as ForgeError {
            failures += 1
            if failures == 1 || failures % 10 == 0 {
                log.warning(
                    "\(record.repository): its forge can't be asked about changes (\(failures) times in a row): \(error)",
                    metadata: .code(.forgeUnreachable, repository: record.repository)
                )
            }
            let pause = min(pow(2, Double(min(failures, 20))), Self.longestPause)
            retryAt = max(error.retryAt ?? .distantPast, now().addingTimeInterval(pause))
            return retryAt
        }
    }

    private func work() async throws {
        while let button = buttons.first {
            try await press(button)
            buttons.removeFirst()
        }
        while let number = changes.first {
            try await skippingUnreadable(number) { try await learn([number: nil]) }
            changes.remove(number)
        }
        while let number = commented.first {
            try await skippingUnreadable(number) { try await readComments(of: number) }
            commented.remove(number)
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
            if new.count <= Self.mostSingle { return try await learn(Dictionary(new.map { ($0, nil) }) { $1 }) }
            // Of many, a list tells in fewer requests.
            guard let (found, _) = try await reader.changes(since: nil, etag: nil) else { return }
            try await learn(
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
        let cursor = try await index.forgeCursor(of: record.repository)
        guard let (found, etag) = try await reader.changes(since: cursor?.seen, etag: cursor?.etag) else { return }
        let newest = found.map(\.updatedAt).max()
        try await learn(
            Dictionary(found.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first }),
            isBaseline: cursor == nil)
        // What was said before the connection is no command.
        if cursor != nil {
            for change in found {
                try await skippingUnreadable(change.number) { try await readComments(of: change.number) }
            }
        }
        let seen = [newest, cursor?.seen].compactMap { $0 }.max() ?? record.connectedAt
        try await index.keepForgeCursor(ForgeCursor(seen: seen, etag: etag), of: record.repository)
    }

    /// Stores the facts of changes; those without are fetched.
    ///
    /// - Parameter isBaseline: The first facts after the connection start nothing.
    private func learn(_ known: [Int: ForgeChange?], isBaseline: Bool = false) async throws {
        var facts: [String: ChangeFacts] = [:]
        for (number, change) in known.sorted(by: { $0.key < $1.key }) {
            let found = if let change { change } else { try await reader.change(number) }
            guard let found else { continue }
            facts["\(number)"] = try await complete(found)
        }
        guard !facts.isEmpty else { return }
        let news = try await index.keepForgeChanges(facts, of: record.repository, isBaseline: isBaseline)
        for name in news.withOtherPusher { await host.reconsider(name, record.repository) }
        if !news.undecided.isEmpty { await host.lookAnew(record.repository) }
    }

    /// The facts of a change with who pushed it, and what that person may do.
    ///
    /// A branch of the repository itself was pushed by somebody who may. To a fork its owner lets push whom he likes: there
    /// the one counts whom a delivery named, else the author of the change.
    private func complete(_ change: ForgeChange) async throws -> ChangeFacts {
        var facts = change.facts
        let pusher = try await index.forgePusher(of: facts.head, in: record.repository)
        guard facts.headRepository != nil else {
            facts.pusher = Contributor(login: pusher?.login ?? facts.author, standing: .writer)
            return facts
        }
        let user = pusher.map { ForgeUser(login: $0.login, id: $0.id) } ?? change.author
        let login = user.login
        let standing: Contributor.Standing =
            if login.isEmpty {
                .unknown
            } else if try await reader.mayWrite(user) {
                .writer
            } else if login == facts.author, change.hasContributed == true {
                .contributor
            } else if try await index.hasLanded(login, in: record.repository) {
                .contributor
            } else {
                .newcomer
            }
        facts.pusher = Contributor(login: login, standing: standing)
        return facts
    }

    // MARK: Commands

    /// Has the commands in the comments of a change carried out, each once.
    private func readComments(of number: Int) async throws {
        let since = max(record.connectedAt, now().addingTimeInterval(-Self.longestDelay))
        for remark in try await reader.remarks(of: number, since: since) where remark.createdAt >= since {
            guard let command = ForgeCommand.read(remark.body) else { continue }
            let key = "comment \(remark.id)"
            guard try await index.forgeOrder(key, of: record.repository) == nil else { continue }
            let outcome = try await outcome(of: command, in: remark, key: key)
            let answer = CommandAnswer(
                change: number, comment: remark.id, isObeyed: outcome.isObeyed, text: outcome.text)
            if !outcome.text.isEmpty {
                let wanted = ForgeWanted.answer(answer)
                try await index.wantForgeItems(
                    [(wanted.thing, try wanted.json())], of: record.repository, run: nil, in: nil)
            }
            try await index.keepForgeOrder(
                ForgeOrderRecord(
                    key: key, change: number, by: remark.author.login, isObeyed: outcome.isObeyed, text: outcome.text),
                of: record.repository)
            host.noteWanted()
        }
    }

    /// Carries a command out, or says why not; with an empty text where nobody is to be answered.
    private func outcome(
        of command: Result<ForgeCommand, ForgeCommand.NoCommand>, in remark: ForgeRemark, key: String
    ) async throws -> ForgeOutcome {
        if let refusal = host.policy.refusal(remark) { return ForgeOutcome(isObeyed: false, text: refusal) }
        // Whoever writes a thousand commands gets no thousand answers.
        let hour = now().addingTimeInterval(-3_600)
        guard try await index.forgeOrders(at: remark.change, since: hour, of: record.repository) < Self.mostOrders
        else {
            return ForgeOutcome(isObeyed: false, text: "")
        }
        guard try await reader.mayWrite(remark.author) else {
            return ForgeOutcome(
                isObeyed: false, text: "only people who may push to this repository can ask for that")
        }
        switch command {
        case .failure:
            return ForgeOutcome(isObeyed: false, text: "there is no such command; there are: \(ForgeCommand.usage)")
        case .success(let command):
            return try await host.obey(
                ForgeOrder(
                    repository: record.repository, command: command, change: remark.change, run: nil, head: nil,
                    by: try name(remark.author), writtenAt: remark.createdAt, key: key))
        }
    }

    /// Carries out what a button asks for.
    private func press(_ button: ForgeButton) async throws {
        let key = "button \(button.key)"
        guard let command = ForgeCommand(button: button.identifier),
            try await index.forgeOrder(key, of: record.repository) == nil
        else { return }
        let outcome =
            if try await reader.mayWrite(button.by) {
                try await host.obey(
                    ForgeOrder(
                        repository: record.repository, command: command, change: nil, run: button.run,
                        head: button.head, by: try name(button.by), writtenAt: nil, key: key))
            } else {
                ForgeOutcome(isObeyed: false, text: "only people who may push to this repository can ask for that")
            }
        if !outcome.isObeyed {
            let who = TerminalText.name(button.by.login, limit: 100)
            log.notice(
                "\(record.repository): \(who) pressed \(button.identifier) at the forge: \(outcome.text)",
                metadata: .code(.forgeCommand, repository: record.repository))
        }
        try await index.keepForgeOrder(
            ForgeOrderRecord(
                key: key, change: nil, by: button.by.login, isObeyed: outcome.isObeyed, text: outcome.text),
            of: record.repository)
    }
}
