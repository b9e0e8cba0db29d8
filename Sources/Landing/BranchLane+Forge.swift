import Foundation
import Git
import MergeQueue
import Pipeline
import Results
import Store
import Watching

/// Landings that a forge carries out. It makes commits of its own, so what counts is the tree that they have.
extension BranchLane {
    /// The order for an intended landing; nil if its change has no number at a forge.
    private func order(_ intent: LandingIntent, _ state: QueueState) async throws -> MergeOrder? {
        guard let entry = intent.entries.first.flatMap(state.entry), let number = MergeOrder.number(of: entry.change),
            let method = state.rules.flatMap({ LandingMethod(rawValue: $0.method) })
        else { return nil }
        let message = try await withRepository(at: repository.store) { store in
            try OID(hex: intent.to).map { try store.commit($0).message }
        }
        return MergeOrder(
            repository: repository.name, number: number, head: entry.head, method: method, message: message ?? "")
    }

    /// What became of an intended landing, if the target is at another commit than the one that it was tested on.
    ///
    /// - Returns: Nil if the forge has not merged it: somebody else moved the target.
    func forgeNews(_ intent: LandingIntent, _ state: QueueState, tip: OID) async throws -> QueueEvent? {
        guard let order = try await order(intent, state) else { return nil }
        switch try await forge.outcome(of: order) {
        case .merged(let commit): return try await merged(commit, intent, tip: tip)
        case .open, .notMergeable: return nil
        case .headMoved: return try await pushed(order)
        case .notAllowed(let reason): return .refused(reason)
        case .later(let reason, let until): throw LandingPause(reason: reason, until: until)
        }
    }

    /// Has the forge merge the change. Whether that moved the target, the next look tells.
    func merge(_ intent: LandingIntent, _ state: QueueState) async throws -> Step {
        guard let order = try await order(intent, state) else {
            return try await apply(
                .declined(.failed(.unmergeable("it has no number at a forge, which is to merge it"))))
        }
        // A person has stopped the queue: what is not merged yet stays in line.
        let answer = state.frozen == nil ? try await forge.merge(order) : try await forge.outcome(of: order)
        switch answer {
        case .merged: return .ordered
        case .open: return try await apply(.refused(state.frozen ?? "the forge has not merged it"))
        case .headMoved: return try await apply(pushed(order))
        case .notMergeable(let reason):
            return try await apply(.declined(.failed(.unmergeable("the forge can't merge it: \(reason)"))))
        case .notAllowed(let reason):
            // Some forges say so if the branch has moved since the look.
            return .rejected("the forge did not merge change \(order.number): \(reason)")
        case .later(let reason, let until): throw LandingPause(reason: reason, until: until)
        }
    }

    private func pushed(_ order: MergeOrder) async throws -> QueueEvent {
        let head = try await queues.index.change("\(order.number)", of: repository.name)?.head
        return .declined(.pushed(head: head == order.head ? "" : head ?? ""))
    }

    private func merged(_ commit: String, _ intent: LandingIntent, tip: OID) async throws -> QueueEvent {
        let tree = try await withRepository(at: repository.store) { store -> String? in
            guard let id = OID(hex: commit), store.contains(id), try store.isAncestor(id, of: tip) else { return nil }
            return try store.commit(id).tree.hex
        }
        guard let tree else {
            throw LandingPause(reason: "the forge has merged it as \(commit.prefix(10)), which is not in \(branch) yet")
        }
        return .merged(commit: commit, isTested: tree == intent.tree, try await rules(at: commit))
    }

    /// Adds to the reason for a refused push what helps where a branch is protected.
    func explained(_ refusal: String) async -> String {
        guard refusal.localizedCaseInsensitiveContains("protected"), await forge.isConnected(repository.name) else {
            return refusal
        }
        return "\(refusal). `.merged(by: .forge)` at the Landing into \(branch) has the forge merge instead"
    }
}
