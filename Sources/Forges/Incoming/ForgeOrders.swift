import ForgeConnection
import DaemonLog
import Foundation
import Logging
import Results
import Store
import TerminalText

/// Has commands that people give at one repository's forge carried out, each once: in comments, and by buttons.
struct ForgeOrders {
    /// Comments that are older are not obeyed, whatever was missed: nobody waits for them any more. In seconds.
    static let longestDelay = 86_400.0
    /// Orders at one change that are answered in an hour.
    static let mostOrders = 20

    let record: ForgeRecord
    let index: Store.Index
    let sessions: ForgeSessions
    let host: ForgeHost
    let log: Logger
    let now: @Sendable () -> Date

    var reader: any ForgeReading & ForgeIssueReading {
        get throws { try sessions.session().reader }
    }

    /// Who asks, for people.
    func name(_ user: ForgeUser) throws -> String {
        "\(user.login) at \(try sessions.session().address.kind.title)"
    }

    /// Has the commands in the comments of a change or an issue carried out, each once.
    func readComments(of subject: ForgeSubject) async throws {
        let since = max(record.connectedAt, now().addingTimeInterval(-Self.longestDelay))
        let remarks =
            switch subject {
            case .change(let number): try await reader.remarks(of: number, since: since)
            case .issue(let number): try await reader.issueRemarks(of: number, since: since)
            }
        for remark in remarks where remark.createdAt >= since {
            guard let command = ForgeCommand.read(remark.body) else { continue }
            let key = "comment \(remark.id)"
            guard try await index.forgeOrder(key, of: record.repository) == nil else { continue }
            let outcome = try await outcome(of: command, in: remark, at: subject, key: key)
            var answer = CommandAnswer(
                change: subject.number, comment: remark.id, isObeyed: outcome.isObeyed, text: outcome.text)
            if case .issue = subject { answer.isAtIssue = true }
            if !outcome.text.isEmpty {
                let wanted = ForgeWanted.answer(answer)
                try await index.wantForgeItems(
                    [(wanted.thing, try wanted.json())], of: record.repository, run: nil, in: nil)
            }
            try await index.keepForgeOrder(
                ForgeOrderRecord(
                    key: key, change: subject.number, by: remark.author.login, isObeyed: outcome.isObeyed,
                    text: outcome.text),
                of: record.repository)
            host.noteWanted()
        }
        if case .change(let number) = subject { try await readRemarks(of: number, among: remarks, since: since) }
    }

    /// Carries a command out, or says why not; with an empty text where nobody is to be answered.
    private func outcome(
        of command: Result<ForgeCommand, ForgeCommand.NoCommand>, in remark: ForgeRemark, at subject: ForgeSubject,
        key: String
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
        case .success(.task): return try await beginTask(at: subject, by: try name(remark.author))
        case .success(let command):
            var order = ForgeOrder(
                repository: record.repository, command: command, change: nil, run: nil, head: nil,
                by: try name(remark.author), writtenAt: remark.createdAt, key: key)
            switch subject {
            case .change(let number): order.change = number
            case .issue(let number): order.issue = number
            }
            return try await host.obey(order)
        }
    }

    /// Carries out what a button asks for.
    func press(_ button: ForgeButton) async throws {
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
