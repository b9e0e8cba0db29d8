import ForgeConnection
import Foundation
import Results
import Store

/// Learns the facts of one repository's changes from its forge, and stores them.
struct ForgeLearner {
    let record: ForgeRecord
    let index: Store.Index
    let sessions: ForgeSessions
    let host: ForgeHost

    private var reader: any ForgeReading {
        get throws { try sessions.session().reader }
    }

    /// Stores the facts of changes; those without are fetched.
    ///
    /// - Parameter isBaseline: The first facts after the connection start nothing.
    func learn(_ known: [Int: ForgeChange?], isBaseline: Bool = false) async throws {
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
}
