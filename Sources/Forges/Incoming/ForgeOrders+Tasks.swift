import ForgeConnection
import DaemonLog
import Foundation
import Logging
import Results
import Store
import TerminalText

/// Where people write: at a change or an issue.
enum ForgeSubject: Sendable, Equatable {
    case change(Int)
    case issue(Int)

    var number: Int {
        switch self {
        case .change(let number), .issue(let number): number
        }
    }
}

/// What becomes a task, and what is said to one.
extension ForgeOrders {
    /// Looks at one issue: its labels, and the commands in its comments.
    ///
    /// - Parameter labellers: Who may have set its labels, as deliveries say.
    func readIssue(_ number: Int, labellers: [ForgeUser]) async throws {
        guard let interest = try await host.tasks?.interest(record.repository), interest.isDeclared,
            let issue = try await reader.issue(number)
        else { return }
        try await read(issue, labellers: labellers, interest)
    }

    /// The same for an issue that was fetched.
    func read(_ issue: ForgeIssue, labellers: [ForgeUser], _ interest: ForgeTasks.Interest) async throws {
        try await beginTask(of: issue, labellers: labellers, interest)
        try await readComments(of: .issue(issue.number))
    }

    /// Makes a task of a labelled issue, if somebody who may write set the label.
    ///
    /// Who may not write can't label, but a template can: it gives its labels to whatever a stranger files. So the label
    /// counts if a delivery names somebody who may write as the one who set it, or if such a person wrote the issue.
    private func beginTask(
        of issue: ForgeIssue, labellers: [ForgeUser], _ interest: ForgeTasks.Interest
    ) async throws {
        let key = "issue \(issue.number)"
        guard let tasks = host.tasks, issue.isOpen, !interest.labels.isDisjoint(with: issue.labels),
            try await index.forgeOrder(key, of: record.repository) == nil
        else { return }
        for person in labellers + [issue.author] where !person.login.isEmpty {
            guard try await reader.mayWrite(person) else { continue }
            let who = try name(person)
            let outcome = try await tasks.begin(issue, who, record.repository)
            if !outcome.isObeyed {
                log.notice(
                    "\(record.repository): issue \(issue.number) becomes no task: \(TerminalText.name(outcome.text))",
                    metadata: .code(.forgeCommand, repository: record.repository))
            }
            try await index.keepForgeOrder(
                ForgeOrderRecord(
                    key: key, change: issue.number, by: person.login, isObeyed: outcome.isObeyed, text: outcome.text),
                of: record.repository)
            return host.noteWanted()
        }
        log.info(
            "\(record.repository): issue \(issue.number) has a label for tasks, but nobody who may write is known to have set it; `/pipectl task` makes one",
            metadata: .code(.forgeCommand, repository: record.repository))
    }

    /// Makes a task of the issue at which somebody who may write asked for one.
    func beginTask(at subject: ForgeSubject, by who: String) async throws -> ForgeOutcome {
        guard case .issue(let number) = subject, let tasks = host.tasks, let issue = try await reader.issue(number)
        else { return ForgeOutcome(isObeyed: false, text: "write task at an issue that says what is to be done") }
        return try await tasks.begin(issue, who, record.repository)
    }

    /// Hands on what people say at the change of a task, in comments and reviews.
    func readRemarks(of change: Int, among comments: [ForgeRemark], since: Date) async throws {
        guard let tasks = host.tasks, try await tasks.interest(record.repository).changes.contains(change) else {
            return
        }
        let reviews = try await reader.reviewRemarks(of: change, since: since)
        for remark in comments + reviews where remark.createdAt >= since {
            guard !remark.isOwn, ForgeCommand.read(remark.body) == nil, host.policy.refusal(remark) == nil else {
                continue
            }
            let key = "remark \(remark.key)"
            guard try await index.forgeOrder(key, of: record.repository) == nil else { continue }
            let hour = now().addingTimeInterval(-3_600)
            // What is left waits for the next look.
            guard try await index.forgeOrders(at: change, since: hour, of: record.repository) < Self.mostOrders else {
                return
            }
            let mayWrite = try await reader.mayWrite(remark.author)
            if mayWrite {
                try await tasks.remark(
                    ForgeTasks.Remark(
                        repository: record.repository, change: change,
                        text: ForgeText.cut(remark.body, bytes: ForgeCommand.longestText), by: try name(remark.author),
                        key: key))
            }
            try await index.keepForgeOrder(
                ForgeOrderRecord(
                    key: key, change: change, by: remark.author.login, isObeyed: mayWrite, text: ""),
                of: record.repository)
            host.noteWanted()
        }
    }
}

extension ForgeRemark {
    /// Whether pipectl may have written it. Whoever copies the mark is not heard, and that is all.
    var isOwn: Bool { body.hasPrefix("<!-- pipectl ") }
}
