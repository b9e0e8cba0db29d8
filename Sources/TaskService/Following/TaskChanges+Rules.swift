import Git
import Preparing
import Results
import Store
import Tasks
import Watching

extension TaskChanges {
    /// The file that a rule is proposed for.
    private static let instructions = "AGENTS.md"
    /// The most commits by hand that are read.
    private static let mostCommits = 20

    /// The rules that would have told the agent what a person had to correct, once the change has landed.
    ///
    /// Nothing is changed by itself: the proposal is a patch that a person may apply.
    ///
    /// - Returns: Nil if nothing was corrected, the instructions say so already, or they can't be read.
    func proposal(for known: TaskFacts.Known) async throws -> TaskEvent.What? {
        let task = known.task
        guard let landed = task.landedCommit.flatMap(OID.init(hex:)),
            !known.events.contains(where: { if case .rulesProposed = $0.what { true } else { false } })
        else { return nil }
        let repository = try await repositories.repository(named: task.repository)
        var head: String?
        if let change = task.change { head = try await index.change(change, of: task.repository)?.head }
        let (top, opened) = (head.flatMap(OID.init(hex:)), Self.opened(known.events).flatMap { OID(hex: $0.commit) })
        let corrections = RuleProposal.corrections(in: known.events)
        let proposal = try? await withRepository(at: repository.store) { store in
            let byHand = try Self.messages(from: opened, to: top, in: store).map {
                RuleProposal.Correction.commit(message: $0)
            }
            guard !(corrections + byHand).isEmpty else { return nil as RuleProposal? }
            return RuleProposal.make(
                from: corrections + byHand, in: try AgentFiles.text(of: Self.instructions, at: landed, in: store),
                at: Self.instructions)
        }
        return proposal.flatMap { $0 }.map { .rulesProposed(patch: $0.patch) }
    }

    /// The messages of the commits that somebody made on top of what the agent made, the newest first.
    private static func messages(from opened: OID?, to head: OID?, in store: Repository) throws -> [String] {
        guard let opened, var next = head else { return [] }
        var messages: [String] = []
        while next != opened {
            guard messages.count < mostCommits else { return [] }
            let commit = try store.commit(next)
            guard let parent = commit.parents.first else { return [] }
            messages.append(commit.message)
            next = parent
        }
        return messages
    }
}
